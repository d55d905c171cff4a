//! The comparison of two versions of a protocol whose ends want to talk to each other.
//!
//! Version N *refines* version O if each role of N is an asynchronous subtype of the role in O.
//! Then every mix of the two is safe: the roles of N can replace the roles of O one by one.
//!
//! A session may mix any number of versions, and two ends compare only their own. If every role
//! talks to every other, it is enough that of any two versions one refines the other: refinement is
//! transitive, so there is a version that all others refine. If some roles do not talk to each
//! other, their versions are never compared. Then each of two versions must refine the other, which
//! is transitive as well.
//!
//! Only subtyping by itself counts as a proof. If a proof also depends on the other roles (a role
//! leaves out an option, or acts early beside a role that receives from several others), their
//! versions are not known here.
//!
//! The answer can only be wrong if a peer lies about its own projections.

use rumpsteak_fsm::verify::{Accepted, Evidence};
use rumpsteak_fsm::{Fsm, Limits, Verdict, text, verify};

/// Checks that two versions are compatible, given the machines of all roles as text. Otherwise
/// returns the first difference.
pub(crate) fn fit(own: &str, theirs: &str) -> Result<(), String> {
    let [own, theirs] = [own, theirs].map(|text| {
        let mut machines = text::parse(text).map_err(|error| error.to_string())?;
        machines.sort_by(|one, other| one.role().cmp(other.role()));
        Ok::<_, String>(machines)
    });
    let (own, theirs) = (own?, theirs?);
    let (forth, back) = (refines(&own, &theirs), refines(&theirs, &own));
    if is_complete(&own) && is_complete(&theirs) {
        return if back.is_ok() { back } else { forth };
    }
    forth.and(back)
}

/// Returns true if each role talks to every other role.
fn is_complete(machines: &[Fsm]) -> bool {
    let talks = |fsm: &Fsm, to: &Fsm| fsm.transitions().any(|by| by.action.peer == *to.role());
    let is_hub = |fsm: &Fsm| machines.iter().all(|to| to.role() == fsm.role() || talks(fsm, to));
    machines.iter().all(is_hub)
}

/// Checks that each role of the first version can replace the same role of the second one.
fn refines(new: &[Fsm], old: &[Fsm]) -> Result<(), String> {
    // The peer chooses the machines, so the comparison is limited.
    let limits = Limits::default().steps(100_000).configurations(10_000);
    if !new.iter().map(Fsm::role).eq(old.iter().map(Fsm::role)) {
        return Err("they have different roles".to_owned());
    }
    for (own, place) in new.iter().zip(old) {
        if own == place {
            continue;
        }
        let role = own.role();
        let peers: Vec<&Fsm> = old.iter().filter(|peer| peer.role() != role).collect();
        let difference = match verify(own, place, &peers, &limits) {
            Ok(_) if own.late() != place.late() => "drops other late messages".to_owned(),
            Ok(Verdict::Safe(Accepted { condition: None, .. })) => continue,
            Ok(Verdict::Safe(_)) => "is safe only with some versions of the other roles".to_owned(),
            Ok(Verdict::Unsafe(refused)) => refused.refusal.map_or_else(
                || "is not safe with the other roles".to_owned(),
                |refusal| {
                    let action = |fsm: &Fsm, id| format!("`{}`", fsm.transition(id).action);
                    let own = refusal.sub.map_or("nothing".to_owned(), |id| action(own, id));
                    let due = refusal.sup.map_or("nothing".to_owned(), |id| action(place, id));
                    let run = run(&refused.evidence);
                    format!("does {own} where {due} is due: {}{run}", refusal.rule)
                },
            ),
            Ok(Verdict::Undecided(limit)) => limit.to_string(),
            Err(error) => error.to_string(),
        };
        return Err(format!("`{role}` {difference}"));
    }
    Ok(())
}

/// The run that fails with peers of the other version, if there is one.
fn run(evidence: &Evidence) -> String {
    let Evidence::Run(run) = evidence else { return String::new() };
    let steps = run.steps.iter().map(|step| format!("`{}` does `{}`", step.role, step.action));
    let steps: Vec<String> = steps.collect();
    format!("; {}, and then {}", steps.join(", "), run.failure)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "
        k: rec X . s!ready; s?value; X
        s: rec X . k?ready; k!value; X";

    #[test]
    fn a_version_that_does_more_early_fits_in_both_directions() {
        let new = "
            k: s!ready; rec X . s!ready; s?value; X
            s: rec X . k?ready; k!value; X";
        assert_eq!(fit(OLD, OLD), Ok(()));
        assert_eq!(fit(new, OLD), Ok(()));
        assert_eq!(fit(OLD, new), Ok(()));
    }

    #[test]
    fn a_version_that_receives_more_fits() {
        let new = "
            k: rec X . s!ready; {s?value; X, s?none; X}
            s: rec X . k?ready; k!value; X";
        assert_eq!(fit(new, OLD), Ok(()));
    }

    #[test]
    fn where_some_roles_do_not_talk_each_version_must_refine_the_other() {
        let old = "
            k: rec X . s!ready; s?value; X
            s: rec X . k?ready; k!value; l!note; X
            l: rec X . s?note; X";
        let early = "
            k: s!ready; rec X . s!ready; s?value; X
            s: rec X . k?ready; l!note; k!value; X
            l: rec X . s?note; X";
        let more = "
            k: rec X . {s!ready; s?value; X}
            s: rec X . k?ready; k!value; l!note; X
            l: rec X . {s?note; X, s?none; X}";
        let swapped = "
            k: rec X . s!ready; s?value; X
            s: rec X . k?ready; l!note; k!value; X
            l: rec X . s?note; X";
        assert_eq!(fit(swapped, old), Ok(()));
        assert!(fit(early, old).is_err());
        assert!(fit(more, old).is_err());
    }

    #[test]
    fn versions_that_do_not_fit_are_told_by_what_differs_first() {
        let new = "
            k: rec X . s!ready; s?value; X
            s: rec X . k?ready; k!none; X";
        assert_eq!(
            fit(new, OLD),
            Err("`s` does `k!none` where `k!value` is due: a message must be one that the protocol offers; \
                 `k` does `s!ready`, `s` does `k?ready`, `s` does `k!none`, \
                 and then k cannot receive the next message from s".to_owned())
        );
        let drops = |label: &str| {
            let edge =
                |role: &str, action: &str| format!("digraph {role} {{0 -> 1 [label=\"{action}\"]");
            let late = format!("1 [label=\"drops k?{label}\"]");
            format!("{}}} {}{late}}}", edge("k", "s!go"), edge("s", "k?go"))
        };
        assert_eq!(fit(&drops("stop"), &drops("stop")), Ok(()));
        let other = fit(&drops("stop"), &drops("none"));
        assert_eq!(other, Err("`s` drops other late messages".to_owned()));
        let other = "k: t!ready; end\nt: k?ready; end";
        assert_eq!(fit(OLD, other), Err("they have different roles".to_owned()));
        assert!(fit(OLD, "digraph").is_err());
    }

    #[test]
    fn what_is_safe_with_some_versions_of_the_others_only_does_not_fit() {
        // `b` may leave out `stop`, but then `result` of `a` is never received.
        let old = "
            a: b!result; end
            b: rec X . c?go; {c!again; X, c!stop; a?result; end}
            c: rec X . b!go; {b?again; X, b?stop; end}";
        let new = "
            a: b!result; end
            b: rec X . c?go; c!again; X
            c: rec X . b!go; {b?again; X, b?stop; end}";
        assert!(fit(new, old).is_err());
    }
}
