//! Values as 64-bit words: the one format of snapshots and recordings.

use crate::id::{PwqId, Sleeper, WorkerId};
use crate::list::Fifo;
use crate::pool::action::{Actions, Few, Verdict};
use crate::pool::{ClaimPolicy, CoverPolicy, Event, PoolConfig};
use crate::pwq::Limit;
use crate::time::{Span, Tick};
use crate::worker::{State, Worker};

/// Words that are being read.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    words: &'a [u64],
}

impl<'a> Reader<'a> {
    /// Reads these words from the first.
    pub fn new(words: &'a [u64]) -> Self {
        Reader { words }
    }

    /// The next word.
    pub fn word(&mut self) -> Option<u64> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(*first)
    }

    /// The next `len` words.
    pub fn take(&mut self, len: usize) -> Option<&'a [u64]> {
        let (taken, rest) = self.words.split_at_checked(len)?;
        self.words = rest;
        Some(taken)
    }

    /// The number of words left.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether everything has been read.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

/// A value that is written as words, and read back.
pub trait Words: Sized {
    /// Appends the value.
    fn put(&self, out: &mut Vec<u64>);
    /// Reads the value. `None`: these words are not one.
    fn get(input: &mut Reader<'_>) -> Option<Self>;
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Words for $number {
            fn put(&self, out: &mut Vec<u64>) {
                out.push(*self as u64);
            }
            fn get(input: &mut Reader<'_>) -> Option<Self> {
                <$number>::try_from(input.word()?).ok()
            }
        }
    )*};
}
numbers!(u8, u32, u64, usize);

/// A structure is its fields, in this order.
macro_rules! fields {
    ([$($generic:tt)*] $name:ty { $($field:tt),* }) => {
        impl<$($generic)*> $crate::pool::record::Words for $name {
            fn put(&self, out: &mut Vec<u64>) {
                $($crate::pool::record::Words::put(&self.$field, out);)*
            }
            fn get(input: &mut $crate::pool::record::Reader<'_>) -> Option<Self> {
                Some(Self { $($field: $crate::pool::record::Words::get(input)?),* })
            }
        }
    };
}
pub(crate) use fields;

/// A choice is its number, then its values.
macro_rules! choices {
    ([$($generic:tt)*] $name:ty {
        $($number:literal = $choice:ident $(($($value:ident),*))? $({$($field:ident),*})?),* $(,)?
    }) => {
        impl<$($generic)*> Words for $name {
            fn put(&self, out: &mut Vec<u64>) {
                match self {
                    $(Self::$choice $(($($value),*))? $({$($field),*})? => {
                        out.push($number);
                        $($($value.put(out);)*)?
                        $($($field.put(out);)*)?
                    })*
                }
            }
            fn get(input: &mut Reader<'_>) -> Option<Self> {
                Some(match input.word()? {
                    $($number => {
                        $($(let $value = Words::get(input)?;)*)?
                        $($(let $field = Words::get(input)?;)*)?
                        Self::$choice $(($($value),*))? $({$($field),*})?
                    })*
                    _ => return None,
                })
            }
        }
    };
}

impl Words for bool {
    fn put(&self, out: &mut Vec<u64>) {
        out.push(u64::from(*self));
    }
    fn get(input: &mut Reader<'_>) -> Option<Self> {
        match input.word()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl<T: Words> Words for Option<T> {
    fn put(&self, out: &mut Vec<u64>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }
    fn get(input: &mut Reader<'_>) -> Option<Self> {
        if bool::get(input)? { Some(Some(T::get(input)?)) } else { Some(None) }
    }
}

impl<T: Words> Words for Vec<T> {
    fn put(&self, out: &mut Vec<u64>) {
        self.len().put(out);
        self.iter().for_each(|value| value.put(out));
    }
    fn get(input: &mut Reader<'_>) -> Option<Self> {
        let len = usize::get(input)?;
        // Every value has a word: a length beyond what is left is none, and reserves nothing.
        if len > input.words.len() {
            return None;
        }
        (0..len).map(|_| T::get(input)).collect()
    }
}

impl<A: Words, B: Words> Words for (A, B) {
    fn put(&self, out: &mut Vec<u64>) {
        self.0.put(out);
        self.1.put(out);
    }
    fn get(input: &mut Reader<'_>) -> Option<Self> {
        Some((A::get(input)?, B::get(input)?))
    }
}

impl<T: Words + Copy, const N: usize> Words for Few<T, N> {
    fn put(&self, out: &mut Vec<u64>) {
        self.len().put(out);
        self.iter().for_each(|value| value.put(out));
    }
    fn get(input: &mut Reader<'_>) -> Option<Self> {
        let mut few = Few::default();
        for value in Vec::<T>::get(input)? {
            if few.is_full() {
                return None;
            }
            few.push(value);
        }
        Some(few)
    }
}

impl<I: Words + Copy> Words for Fifo<I> {
    fn put(&self, out: &mut Vec<u64>) {
        let (ends, len) = self.parts();
        ends.put(out);
        len.put(out);
    }
    fn get(input: &mut Reader<'_>) -> Option<Self> {
        Some(Fifo::from_parts(Words::get(input)?, Words::get(input)?))
    }
}

fields!([] Tick { 0 });
fields!([] Span { 0 });
fields!([] WorkerId { 0 });
fields!([] PwqId { 0 });
fields!([] PoolConfig {
    managed, claim, cover, batch_max, workers_max, idle_floor, idle_ratio, idle_timeout, create_cooldown, real_time
});
fields!([I: Words + Copy] Worker<I> {
    state, picked, blocked, cpu_intensive, last_active, scheduled, batch, nr_reported
});
fields!([I: Words + Copy] Actions<I> { verdict, batch, wake, stand_by, recall, cull_at, retry_at });
choices!([] Sleeper { 0 = Manager, 1 = Worker(worker) });
choices!([] Limit { 0 = Own(max), 1 = Node });
choices!([] ClaimPolicy { 0 = Stay, 1 = Kicked, 2 = Leave, 3 = Flag, 4 = Stamp });
choices!([] CoverPolicy { 0 = Eager, 1 = Watched, 2 = Backlog(limit) });
choices!([] State { 0 = Gone, 1 = Starting, 2 = Awake, 3 = Busy, 4 = Idle, 5 = Watching, 6 = Dying });
choices!([] Verdict {
    0 = None, 1 = Run, 2 = Create(worker), 3 = Rest { spin }, 4 = Again, 5 = Watch(span), 6 = Exit
});
choices!([I: Words] Event<I> {
    0 = Taken,
    1 = Arrive(item),
    2 = Return(worker, item),
    3 = Finish { worker, item, pwq, owned_by_caller },
    4 = Look(worker),
    5 = GoIdle(worker),
    6 = Woken { worker, progress },
    7 = WatchLook { worker, progress, inbox },
    8 = Block(worker),
    9 = Unblock(worker),
    10 = CpuIntensive(worker),
    11 = Submitted,
    12 = Cover,
    13 = ManagerLook { inbox },
    14 = Created(worker),
    15 = CreateFailed(worker),
    16 = Started(worker),
    17 = Cull,
    18 = Cancel(item),
    19 = SetMaxActive(pwq, max_active),
    20 = Granted(pwq, counts),
    21 = Wanted(pwq),
    22 = Close,
    23 = Exited(worker),
    24 = ClaimAwaited(worker, item),
});
