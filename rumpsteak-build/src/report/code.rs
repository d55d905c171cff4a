//! The stable codes of mistakes in Rust source. An obsolete code is never reused.
//! A broken `.scr` file has no code: its errors have codes of their own.

use rumpsteak_fsm::repair::Misfit;
use rumpsteak_fsm::subtype::Rule;
use rumpsteak_fsm::verify::together::Condition;

use crate::fault::{Cause, NameProblem};

pub(super) fn code(cause: &Cause) -> Option<&'static str> {
    Some(match cause {
        Cause::BrokenFile { .. } => return None,
        Cause::Name { problem, .. } => match problem {
            NameProblem::Unresolved => "V0101",
            NameProblem::NoRole | NameProblem::Swapped => "V0104",
            NameProblem::OwnRole => "V0106",
            _ => "V0103",
        },
        Cause::OtherSession { .. } => "V0108",
        Cause::UnknownProtocol { .. } => "V0201",
        Cause::UnknownRole { .. } => "V0202",
        Cause::UnplayableProtocol { .. } => "V0203",
        Cause::ProtocolDeclaredTwice { .. } => "V0204",
        Cause::OtherProtocol { .. } => "V0205",
        Cause::TwoLabels { .. } | Cause::TwoStructs { .. } => "V0206",
        Cause::NoMessage { .. } => "V0207",
        Cause::NoLabel { .. } => "V0208",
        Cause::UnknownLabel { .. } => "V0209",
        Cause::NoRoute { .. } => "V0211",
        Cause::Setting { .. } => "V0213",
        Cause::AmbiguousChoice { .. } => "V0301",
        Cause::Idle { .. } => "V0302",
        Cause::RecursiveAlias { .. } => "V0303",
        Cause::OtherPayload { .. } => "V0404",
        Cause::Refused(refusal) => match (&refusal.refused.refusal, &refusal.refused.condition) {
            (Some(of), _) => of_rule(of.rule, of.sup.is_some(), refusal.misfit.as_ref()),
            (None, Some(Condition::NarrowedChoice(..))) => "V0411",
            (None, _) => "V0412",
        },
        Cause::NotLive { .. } => "V0413",
        Cause::UnsafeSystem { .. } => "V0501",
        Cause::SilentRole { .. } => "V0502",
        Cause::Undecided { .. }
        | Cause::UndecidedCapacities { .. }
        | Cause::UndecidedSystem { .. }
        | Cause::Unjudged { .. } => "V0503",
        Cause::Hangs(_) => "V0505",
        Cause::Family { .. } => "V0506",
        Cause::Machine { .. } => "V0603",
        Cause::Unwritable { .. } => "V0604",
    })
}

/// The code of a broken rule. `is_due` is true if another action is due; `misfit` is simpler.
pub(super) fn of_rule(rule: Rule, is_due: bool, misfit: Option<&Misfit>) -> &'static str {
    match (misfit, rule) {
        (Some(Misfit::Unknown(_)), _) => "V0401",
        (Some(Misfit::OtherPeer(_)), _) => "V0402",
        (Some(Misfit::OtherDirection(_)), _) => "V0403",
        (Some(Misfit::OtherPayload(_)), _) | (None, Rule::PayloadDiffers) => "V0404",
        (Some(Misfit::Missing(..) | Misfit::NoOption(_) | Misfit::Elsewhere(..)), _) => "V0410",
        (Some(Misfit::Superfluous(Some(why))), rule) => of_rule(rule, is_due, Some(why)),
        (Some(Misfit::Undecided(..)), _) => "V0405",
        (None, Rule::InputNotReached | Rule::OutputNotReached) if is_due => "V0405",
        (Some(Misfit::OtherBranch(_) | Misfit::Repeated(_) | Misfit::Superfluous(None)), _) => {
            "V0406"
        }
        (None, Rule::InputBeforeOutput) => "V0407",
        (None, Rule::InputsFromOnePeer | Rule::OutputsToOnePeer) => "V0408",
        (None, Rule::InputNotHandled) => "V0409",
        (None, Rule::Forgotten) => "V0410",
        // Another action is due, or none; or a later version of the library has more rules.
        (None, _) => "V0406",
    }
}
