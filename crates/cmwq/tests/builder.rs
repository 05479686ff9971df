//! Settings that cannot be used are errors that name them.

use cmwq::{BuildErrorKind, Engine};

#[test]
fn an_engine_name_with_a_zero_byte_is_refused() {
    let error = Engine::builder().name("a\0b").build().expect_err("no thread can have this name");
    assert_eq!(error.kind(), BuildErrorKind::Setting);
    assert!(error.to_string().contains("a\\0b"), "{error}");
}

#[test]
fn numbers_out_of_range_are_refused() {
    for workers in [0, 4097] {
        let error = Engine::builder().workers_max(workers).build().expect_err("out of range");
        assert_eq!(error.kind(), BuildErrorKind::Setting);
        assert!(error.to_string().contains(&workers.to_string()), "{error}");
    }
    let engine = Engine::new().unwrap();
    let error = engine.queue("wide").max_active(2049).build().expect_err("above the kernel's largest");
    assert_eq!(error.kind(), BuildErrorKind::Setting);
    assert!(error.to_string().contains("2049"), "{error}");
}
