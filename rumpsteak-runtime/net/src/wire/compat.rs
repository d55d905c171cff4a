//! Whether ends that were verified against different versions of a protocol may talk to each other.
//!
//! Let each role of version N be an asynchronous subtype of the same role of version O: N *refines*
//! O. Then every mix of the two is safe: each role of N may take the place of its own in O, one
//! after the other.
//!
//! In a session there may be any number of versions, and two ends only compare their own. Where
//! each role talks to each other one, that is enough if of each two versions one refines the other:
//! refining is transitive, so there is one version that all others refine. Where some roles do not
//! talk to each other, their versions are compared by nobody; then each of two must refine the
//! other, which is transitive as well.
//!
//! Only what subtyping proves by itself counts. Where it takes more (a role leaves out an option,
//! or does something early beside one that hears several roles), the answer is about the other
//! roles as well, and nobody here knows of which version these are.
//!
//! What a peer says is not believed further than this: a wrong answer needs a peer that says that
//! it does what it does not.

use rumpsteak_fsm::verify::{Accepted, Evidence};
use rumpsteak_fsm::{Fsm, Limits, Verdict, text, verify};

/// Checks that two versions fit together, given the machines of all roles as text. Returns the
/// first difference if they do not.
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

/// Whether each role talks to each other one.
fn is_complete(machines: &[Fsm]) -> bool {
    let talks = |fsm: &Fsm, to: &Fsm| fsm.transitions().any(|by| by.action.peer == *to.role());
    let others = |fsm: &Fsm| machines.iter().filter(|to| to.role() != fsm.role()).count();
    machines.iter().all(|fsm| machines.iter().filter(|to| talks(fsm, to)).count() == others(fsm))
}

/// How much a comparison may cost: a peer chooses what is compared.
fn limits() -> Limits {
    Limits::default().steps(100_000).configurations(10_000)
}

/// Whether each role of the first version may take the place of its own in the second one.
fn refines(new: &[Fsm], old: &[Fsm]) -> Result<(), String> {
    if !new.iter().map(Fsm::role).eq(old.iter().map(Fsm::role)) {
        return Err("they have different roles".to_owned());
    }
    for (own, place) in new.iter().zip(old) {
        if own == place {
            continue;
        }
        let role = own.role();
        let peers: Vec<&Fsm> = old.iter().filter(|peer| peer.role() != role).collect();
        let difference = match verify(own, place, &peers, &limits()) {
            Ok(Verdict::Safe(Accepted { condition: None, .. })) => continue,
            Ok(Verdict::Safe(_)) => "is safe with some versions of the others only".to_owned(),
            Ok(Verdict::Unsafe(refused)) => refused.refusal.map_or_else(
                || "goes wrong with the others".to_owned(),
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

/// What goes wrong with peers of the other version, step by step, if a run shows it.
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
