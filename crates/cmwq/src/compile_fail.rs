//! What must not compile, each for the reason its code says.
//!
//! A closure goes to another thread:
//!
//! ```compile_fail,E0277
//! let queue = cmwq::Engine::new().unwrap().queue("q").build().unwrap();
//! let here = std::rc::Rc::new(1);
//! let _ = queue.spawn(move || *here);
//! ```
//!
//! and so does a work's function,
//!
//! ```compile_fail,E0277
//! let here = std::rc::Rc::new(1);
//! let _ = cmwq::Work::new(move |_| drop(std::rc::Rc::clone(&here)));
//! ```
//!
//! and a result.
//!
//! ```compile_fail,E0277
//! let queue = cmwq::Engine::new().unwrap().queue("q").build().unwrap();
//! let _ = queue.spawn(|| std::rc::Rc::new(1));
//! ```
//!
//! A spawned closure may run when the caller's frame is gone:
//!
//! ```compile_fail,E0373
//! let queue = cmwq::Engine::new().unwrap().queue("q").build().unwrap();
//! let local = String::from("local");
//! let _ = queue.spawn(|| local.len());
//! ```
//!
//! ```compile_fail,E0597
//! let queue = cmwq::Engine::new().unwrap().queue("q").build().unwrap();
//! let local = String::from("local");
//! let borrowed = &local;
//! let _ = queue.spawn(move || borrowed.len());
//! ```
//!
//! and so may a work's function:
//!
//! ```compile_fail,E0597
//! let local = String::from("local");
//! let borrowed = &local;
//! let _ = cmwq::Work::new(move |_| println!("{borrowed}"));
//! ```
//!
//! A handle of a scope stays in it,
//!
//! ```compile_fail,E0521
//! let queue = cmwq::Engine::new().unwrap().queue("q").build().unwrap();
//! let mut escaped = None;
//! queue.scope(|scope| escaped = Some(scope.spawn(|| 1)));
//! ```
//!
//! as does the scope,
//!
//! ```compile_fail,E0521
//! let queue = cmwq::Engine::new().unwrap().queue("q").build().unwrap();
//! let mut escaped = None;
//! queue.scope(|scope| escaped = Some(scope));
//! ```
//!
//! and what its items borrow outlives it:
//!
//! ```compile_fail,E0373
//! let queue = cmwq::Engine::new().unwrap().queue("q").build().unwrap();
//! queue.scope(|scope| {
//!     let local = 1;
//!     let _ = scope.spawn(|| local);
//! });
//! ```
//!
//! ```compile_fail,E0506
//! let queue = cmwq::Engine::new().unwrap().queue("q").build().unwrap();
//! let mut counter = 0;
//! queue.scope(|scope| {
//!     let _ = scope.spawn(|| counter += 1);
//!     counter += 1;
//! });
//! ```
//!
//! A handle whose result may not be sent cannot be either:
//!
//! ```compile_fail,E0277
//! fn sends<T: Send>() {}
//! sends::<cmwq::JoinHandle<std::rc::Rc<u32>>>();
//! ```
