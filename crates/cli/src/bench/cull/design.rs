//! The designs of `cmwq check kick`, as the runtime can be set up for them.

use cmwq::ClaimPolicy;
use cmwq::bench::Shape;
use cmwq_check::kick::Variant;

use crate::output::Failure;

/// What an engine is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Design {
    pub(super) shape: Shape,
    pub(super) claim: ClaimPolicy,
    /// Whether who picks a worker issues a wake-up though another has claimed one.
    pub(super) own: bool,
    /// Whether the search finds an item stranded with a floor of zero, in a way that the runtime can go.
    pub(super) strands: bool,
    /// Whether it finds one held back.
    pub(super) holds_back: bool,
}

/// The set-up, or why there is none.
pub(super) fn of(variant: Variant) -> Result<Design, &'static str> {
    let design = |shape, claim, own| Design { shape, claim, own, strands: false, holds_back: true };
    Ok(match variant {
        Variant::WakeUnderLock => {
            Design { strands: true, holds_back: false, ..design(Shape::UnderLock, ClaimPolicy::Stay, true) }
        }
        Variant::DeferredOwn => Design { strands: true, ..design(Shape::Deferred, ClaimPolicy::Stay, true) },
        Variant::DeferredDedup => {
            Design { strands: true, ..design(Shape::Deferred, ClaimPolicy::Stay, false) }
        }
        Variant::KickedDedup => design(Shape::Deferred, ClaimPolicy::Kicked, false),
        Variant::LeaveAtPick => design(Shape::Deferred, ClaimPolicy::Leave, true),
        Variant::LeaveAtPickAndCreate => {
            return Err(
                "a new worker of the runtime is on no idle list before it has run, whatever the design",
            );
        }
        Variant::Flag => design(Shape::Deferred, ClaimPolicy::Flag, true),
        Variant::Stamp => Design { strands: true, ..design(Shape::Deferred, ClaimPolicy::Stamp, true) },
        Variant::CmwqCoalesce => design(Shape::Inbox, ClaimPolicy::Kicked, false),
        Variant::CmwqRt => return Err("real-time pools have rules that this benchmark does not set up"),
    })
}

/// Those that can be run, by their ids; a single one must be runnable.
pub(super) fn chosen(id: &str) -> Result<Vec<Variant>, Failure> {
    if id == "all" {
        return Ok(Variant::ALL.into_iter().filter(|&variant| of(variant).is_ok()).collect());
    }
    let Some(variant) = Variant::parse(id) else {
        let ids: Vec<&str> = Variant::ALL.iter().map(|variant| variant.id()).collect();
        return Err(Failure::input(format!("--variant {id:?}: none of all, {}", ids.join(", "))));
    };
    of(variant).map(|_| vec![variant]).map_err(|why| {
        Failure::input(format!(
            "--variant {id}: the runtime cannot run it: {why}; see `cmwq check kick --variant {id}`"
        ))
    })
}

/// Those that cannot, with the reason.
pub(super) fn left_out() -> Vec<(&'static str, &'static str)> {
    Variant::ALL.into_iter().filter_map(|variant| Some((variant.id(), of(variant).err()?))).collect()
}
