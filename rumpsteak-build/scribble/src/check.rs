//! Well-formed protocols.

use std::sync::Arc;

use rumpsteak_fsm::{Action, Fsm, Label, Message, Role, family};

use crate::annotations;
use crate::diagnostics::{
    Code, Construct, Diagnostic, Found, Name, Span, all, diagnostic, projection_errors,
    syntax_errors,
};
use crate::global::automaton::{Edge, Global};
use crate::global::connections::connect;
use crate::global::determinise::determinise;
use crate::global::flow;
use crate::index::index;
use crate::limits::Limits;
use crate::names::modules::Modules;
use crate::names::program::Source;
use crate::names::resolve::{family_size, resolve};
use crate::project::blocks::{self, Together};
use crate::project::projection::{self, Projection};
use crate::project::{asked, on_demand};
use crate::syntax::ast::{Ending, Link, Module};

/// The greatest number of branches that are tried with an additional `continue`.
const MOST_ENDINGS: usize = 16;

/// The result of [`check`].
#[derive(Clone, Debug)]
pub struct Checked {
    /// The well-formed protocols, in order, except for auxiliary ones and those with parameters.
    pub protocols: Vec<Protocol>,
    /// Every error and warning, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Checks a parsed module, and unfolds its protocols.
///
/// A module with syntax errors can be checked too. The errors of [`parse`](crate::parse), and
/// errors that only follow from them, are not reported again.
///
/// # Cost
/// Linear in the text and in the unfolded protocols, which [`Limits`] bound.
pub fn check(module: &Module) -> Checked {
    let imports = module.imports.iter();
    let unsupported =
        imports.map(|import| syntax_errors::unsupported(Construct::IMPORT, import.span)).collect();
    let imports = vec![None; module.imports.len()];
    check_sources(&[Source { module: module.clone(), imports }], &Limits::default(), unsupported)
}

impl Modules {
    /// Checks all modules with the given limits. Returns the protocols of the root, and the errors
    /// of all modules.
    pub fn check(&self, limits: &Limits) -> Checked {
        check_sources(&self.loaded, limits, Vec::new())
    }
}

/// Checks the protocols of all modules, and keeps those of the first.
fn check_sources(sources: &[Source], limits: &Limits, mut diagnostics: Vec<Diagnostic>) -> Checked {
    diagnostics.extend(sources.iter().flat_map(|source| annotations::unknown(&source.module)));
    let mut program = resolve(sources, &mut diagnostics);
    flow::check(&mut program, &mut diagnostics);

    // Auxiliary protocols are checked as parts of their callers; those without callers separately,
    // last.
    let is_complete = |at: &usize| {
        let protocol = &program.protocols[*at];
        protocol.valid && protocol.decl.parameters.is_empty()
    };
    let mut order: Vec<usize> = (0..program.protocols.len()).filter(is_complete).collect();
    order.sort_by_key(|&at| program.protocols[at].decl.auxiliary);
    let own = sources.first().map_or(0, |source| source.module.protocols.len());
    let mut entered = vec![false; program.protocols.len()];
    let mut found = Vec::new();
    for at in order {
        let decl = program.protocols[at].decl;
        if decl.auxiliary && entered[at] {
            continue;
        }
        let built = determinise(&mut program, at, limits.global_states, &mut entered);
        // The connections of an auxiliary protocol depend on its callers.
        let connected = built.and_then(|(global, warnings)| {
            let connected = (!decl.auxiliary)
                .then(|| connect(global, decl.explicit, &decl.name, limits.global_states));
            Ok(connected.transpose()?.map(|(global, alone)| (decl, global, alone, warnings)))
        });
        match connected {
            Ok(protocol) => found.extend(protocol.filter(|_| at < own)),
            Err(errors) => diagnostics.extend(errors),
        }
    }
    let messages: Arc<[Message]> = program.messages.into_iter().collect();
    let raced = annotations::raced(sources);
    let protocols = found.into_iter().map(|(decl, mut global, alone, warnings)| {
        global.messages = Arc::clone(&messages);
        for part in global.blocks.iter_mut().flat_map(|block| &mut block.parts) {
            part.messages = Arc::clone(&messages);
        }
        let role_names: Vec<Name> = decl.roles.iter().map(|role| role.name.clone()).collect();
        let rings = Vec::from_iter(decl.roles.iter().map(|role| decl.connected_by(role)));
        let together = if !global.blocks.is_empty() {
            Some(blocks::project_all(&global, decl, &role_names, &raced, limits))
        } else if !alone.is_empty() {
            on_demand::project_all(&global, &alone, &decl.name, &role_names, limits)
        } else {
            None
        };
        let endings = if together.is_none() { decl.body.endings() } else { Vec::new() };
        let members = decl.roles.iter().zip(&rings).map(|(role, ring)| {
            let size = role.members.as_ref().filter(|_| ring.is_none());
            family_size(size?)
        });
        let protocol = Protocol {
            name: decl.name.clone(),
            role_names,
            members: members.collect(),
            rings,
            endings,
            global: Arc::new(global),
            together: together.map(Arc::new),
            limits: *limits,
        };
        // An error about a role explains branches that begin equally better than the warnings.
        if !warnings.is_empty() && protocol.project_all().is_ok() {
            diagnostics.extend(warnings);
        }
        protocol
    });
    let protocols: Vec<Protocol> = protocols.collect();
    let unfolded = protocols.iter().map(|protocol| &*protocol.global);
    diagnostics.extend(annotations::unknown_dependencies(sources, unfolded));
    diagnostic::sort(&mut diagnostics);
    Checked { protocols, diagnostics }
}

/// A well-formed protocol, as a global type. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Protocol {
    name: Name,
    role_names: Vec<Name>,
    /// See [`members`](Self::members).
    members: Vec<Option<u32>>,
    /// The position of the family that each role connects, if it is a ring.
    rings: Vec<Option<usize>>,
    endings: Vec<Ending>,
    global: Arc<Global>,
    /// The machines of all roles, if they are built together: for blocks and roles on demand.
    together: Option<Arc<Together>>,
    limits: Limits,
}

impl Protocol {
    /// Its name in its declaration.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Its roles, in the order of the declaration.
    pub fn roles(&self) -> &[Role] {
        &self.global.roles
    }

    /// The place where `role` is declared; `None` if the protocol has no such role.
    pub fn role_span(&self, role: &Role) -> Option<Span> {
        Some(self.role_names[self.position(role)?].span)
    }

    /// The number of states of the global automaton.
    pub fn states(&self) -> usize {
        self.global.len()
    }

    /// The machines of all roles, in their order.
    ///
    /// # Errors
    /// All errors of [`project`](Self::project), role by role.
    pub fn project_all(&self) -> Result<Vec<Projection>, Vec<Diagnostic>> {
        if let Some(Err(errors)) = self.together.as_deref() {
            return Err(errors.clone());
        }
        let found = all((0..self.roles().len()).map(|position| self.project_at(position)));
        let found = found.map_err(|errors| self.explained(errors))?;
        if !self.counts(&found) {
            let ring = self.rings.iter().position(Option::is_some);
            let family = self.members.iter().position(Option::is_some).unwrap_or_default();
            let what = if ring.is_some() { "the ring" } else { "the number of members" };
            let place = (self.role_names[ring.unwrap_or(family)].span, what);
            let judged = self.singly(&found)?;
            blocks::judge(&judged, &self.name, place, &self.limits.verifier).map_err(|errors| {
                let advised = errors.into_iter().map(|error| match error.code {
                    Code::UnsafeTogether if ring.is_some() => error.help(
                        "let each member send to the ring, and then receive the same from it",
                    ),
                    _ => error,
                });
                advised.collect::<Vec<_>>()
            })?;
        }
        Ok(found)
    }

    /// Adds that `continue` is missing, if all roles could follow the protocol with it, and the
    /// protocol could still come to an end.
    fn explained(&self, errors: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let global = &self.global;
        let is_forgotten = |Ending { again, last, .. }: &&Ending| {
            let is_at = |edge: &Edge, span| edge.origins.contains(span);
            let begins = |edge: &&Edge| again.as_ref().is_some_and(|again| is_at(edge, again));
            global.all_edges().filter(begins).last().is_some_and(|edge| {
                let global = global.redirected(|edge| is_at(edge, last), edge.target);
                global.ends(&global.letters, &global.blocks)
                    && projection::is_projectable(&global, &self.limits)
            })
        };
        let Some(ending) = self.endings.iter().take(MOST_ENDINGS).find(is_forgotten) else {
            return errors;
        };
        let Ending { variable, last, .. } = ending;
        let say = |error| projection_errors::without_continue(error, variable, *last);
        errors.into_iter().map(say).collect()
    }

    /// Returns true if any projections are safe together by construction, without exploration: the
    /// protocol is right without its blocks (`par`, `interruptible`), and no role plays on demand.
    pub fn is_safe_by_construction(&self) -> bool {
        self.together.as_deref().is_none_or(|found| matches!(found, Ok((_, true))))
    }

    /// The machine of `role`, after Li, Stutz, Wies and Zufferey (CAV'23).
    ///
    /// A state may receive from several peers: see [`Fsm::check_directed`].
    ///
    /// # Errors
    /// If the role would have to act on a choice that it cannot know, a limit is met, or the
    /// protocol has no such role.
    ///
    /// # Cost
    /// Linear in the automaton if the role is told about each choice soon. Exponential in the worst
    /// case, which [`Limits`] stop.
    ///
    /// [`Fsm::check_directed`]: rumpsteak_fsm::Fsm::check_directed
    pub fn project(&self, role: &Role) -> Result<Projection, Vec<Diagnostic>> {
        let Some(position) = self.position(role) else {
            let known: Vec<&str> = self.roles().iter().map(Role::as_str).collect();
            return Err(vec![projection_errors::no_such_role(role.as_str(), &self.name, &known)]);
        };
        let found = self.project_at(position).map_err(|errors| self.explained(errors))?;
        match self.undecided_family(&found) {
            None if !self.has_ring() => Ok(found),
            // The number of members is judged with all machines.
            _ => self.project_all().map(|mut all| all.swap_remove(position)),
        }
    }

    fn project_at(&self, position: usize) -> Found<Projection> {
        if let Some(family) = self.rings[position] {
            return Ok(projection::ring(&self.global, index(position), index(family)));
        }
        let declared = self.role_names[position].span;
        match self.together.as_deref() {
            Some(together) => Ok(together.as_ref().map_err(Vec::clone)?.0[position].clone()),
            None if self.members[position].is_some() && self.is_asked() => {
                asked::member(&self.global, position, &self.members, declared, &self.limits)
            }
            None => projection::project(&self.global, index(position), declared, &self.limits),
        }
    }

    /// The number of members of a role that is a family: 0 if the program gives it.
    pub fn members(&self, role: &Role) -> Option<u32> {
        self.members[self.position(role)?]
    }

    /// The family whose members this role connects, each to the next one, if it is a ring.
    pub fn connected_by(&self, ring: &Role) -> Option<&Role> {
        self.rings[self.position(ring)?].map(|family| &self.roles()[family])
    }

    /// The labels of messages with `some` member of a family.
    pub fn asked(&self) -> impl Iterator<Item = &Label> {
        let asked = self.global.letters.iter().filter(|letter| letter.link == Link::Asks);
        asked.map(|letter| &self.global.message(*letter).label)
    }

    fn is_asked(&self) -> bool {
        self.asked().next().is_some()
    }

    /// True for an action with `some` member of a family.
    fn asks(&self, action: &Action) -> bool {
        let mut asked = self.asked();
        self.members(&action.peer).is_some() && asked.any(|label| *label == action.message.label)
    }

    fn has_ring(&self) -> bool {
        self.rings.iter().any(Option::is_some)
    }

    /// True if the judgement of these projections counts for each number of members of families,
    /// and for the queues of each member.
    pub fn counts(&self, found: &[Projection]) -> bool {
        !self.has_ring() && found.iter().all(|of| self.undecided_family(of).is_none())
    }

    /// The machines to judge instead of these projections: if the number of members
    /// [matters](Self::counts), each member of a family is a role of its own.
    pub fn judged(&self, found: Vec<Projection>) -> Vec<Projection> {
        let singly = if self.counts(&found) { None } else { self.singly(&found).ok() };
        singly.unwrap_or(found)
    }

    /// True if the members of a family may send different messages. Only `drain_each` takes them.
    pub fn differ(&self, found: &[Projection]) -> bool {
        let mut members = self.members.iter().zip(found).filter(|(members, _)| members.is_some());
        members.any(|(_, of)| family::differs(&of.fsm))
    }

    /// True if two members of each family decide.
    fn two_decide(&self, found: &[Projection]) -> bool {
        let mut members = self.members.iter().zip(found).filter(|(members, _)| members.is_some());
        members.all(|(_, of)| family::two_decide(&of.fsm))
    }

    /// True if a role may send while it has heard some of the members: two of them decide, and each
    /// role [may stop](family::may_stop).
    pub fn stops(&self, found: &[Projection]) -> bool {
        let is_family = |role: &Role| self.members(role).is_some();
        self.two_decide(found) && found.iter().all(|of| family::may_stop(&of.fsm, is_family))
    }

    /// True if the runtime can run a machine.
    pub fn can_run(&self, found: &[Projection], fsm: &Fsm) -> bool {
        let is_family = |role: &Role| self.members(role).is_some();
        let mut answers =
            fsm.transitions().filter(|by| !by.action.is_send() && self.asks(by.action));
        answers.all(|by| family::has_one_peer(fsm, by.source))
            && family::can_run(fsm, is_family, self.differ(found), self.two_decide(found))
    }

    /// The projections with each member of a family as a role of its own, or with two of them if
    /// they [decide](family).
    ///
    /// # Errors
    /// If the program gives a number of members, the runtime cannot run a machine, or the machines
    /// have too many transitions.
    fn singly(&self, found: &[Projection]) -> Found<Vec<Projection>> {
        if self.has_ring() {
            return all(found.iter().map(|of| match self.undecided_family(of) {
                None => Ok(of.clone()),
                Some(error) => Err(vec![error]),
            }));
        }
        let (differ, stops) = (self.differ(found), self.stops(found));
        let is_asked = self.is_asked();
        let wait_for_one = found.iter().all(|of| family::waits_for_one(&of.fsm).is_ok());
        let members = |role: &Role| {
            let (number, own) = (self.members(role)?, &found[self.position(role)?].fsm);
            let two_decide = if is_asked { wait_for_one } else { family::two_decide(own) };
            Some(if number != 1 && two_decide { 2 } else { number })
        };
        let families: Vec<Option<u32>> = self.roles().iter().map(members).collect();
        let largest = families.iter().flatten().max().map_or(0, |&members| members as usize);
        // Each member may be the one that is asked last.
        let copies = if is_asked { largest.saturating_mul(largest) } else { largest };
        let transitions: usize = found.iter().map(|of| of.fsm.transition_count()).sum();
        let most = self.limits.local_transitions;
        let is_large = transitions.saturating_mul(copies) > most;
        let can_run = found.iter().all(|of| self.can_run(found, &of.fsm));
        if can_run && !is_large && !families.contains(&Some(0)) {
            let declared = |role: usize| self.role_names[role].span;
            return match is_asked {
                true => asked::project_all(&self.global, &families, declared, &self.limits),
                false => {
                    Ok(found.iter().flat_map(|of| of.singly(members, differ, stops)).collect())
                }
            };
        }
        let undecided = found.iter().filter_map(|of| self.undecided_family(of));
        let advised = undecided.map(|error| match can_run {
            true if is_large => {
                let advice = "write fewer members, or raise the limit `local_transitions`";
                error.help(advice).limit("local_transitions", most)
            }
            true => error.help("fix the number, as in `role w[2]`, or write each member as a role"),
            false => error,
        });
        Err(advised.collect())
    }

    /// An error if the judgement of this machine may not count for each number of members.
    fn undecided_family(&self, found: &Projection) -> Option<Diagnostic> {
        // Most protocols have no family.
        self.members.iter().flatten().next()?;
        let fsm = &found.fsm;
        let is_family = |role: &Role| self.members(role).is_some();
        let asking = fsm.transitions().find(|by| self.asks(by.action));
        let asking = asking.map(|by| (by.source, "some member is asked, and not each"));
        let checked = asking.map_or_else(|| family::check(fsm, is_family), Err);
        let checked =
            if self.has_ring() { checked.and(family::waits_for_one(fsm)) } else { checked };
        let (state, obstacle) = checked.err()?;
        let action = fsm.transitions_from(state).next()?;
        let own = self.position(fsm.role())?;
        let with = fsm.transitions_from(state).map(|found| &found.action.peer);
        // Beside a ring, any state may be one.
        let known = [fsm.role()].into_iter().chain(with).chain(self.roles());
        let of = known.into_iter().find(|role| is_family(role))?;
        let (own, of) = (&self.role_names[own], &self.role_names[self.position(of)?]);
        let at = *found.origins(action.id).first()?;
        Some(projection_errors::undecided_family(own, obstacle, at, of))
    }

    fn position(&self, role: &Role) -> Option<usize> {
        self.roles().iter().position(|known| known == role)
    }
}
