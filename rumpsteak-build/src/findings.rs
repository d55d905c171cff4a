//! A module, from its tokens to its verdict.

use std::collections::BTreeSet;

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use rumpsteak_front::module::{self, Item, Module};
use rumpsteak_fsm::run::Failure;
use rumpsteak_fsm::verify::together::Condition;
use rumpsteak_fsm::{Action, Fsm, Limits, Role, dot};

use crate::codegen;
use crate::codegen::machines::{self, Machine};
use crate::fault::{Cause, Fault};
use crate::judge::sessions::{self, Judgement};
use crate::judge::{Root, capacities, declared};
use crate::protocols::{Loaded, Outcome, Protocols};
use crate::report::beyond_subtyping;
use crate::report::wording::{self, ErrorText};
use crate::scope::{self, ItemId, Scope};
use crate::settings::{Settings, attribute};
use crate::verdict::{ProtocolFacts, RoleFacts, RootFacts, Verdict};

/// The result for a module.
#[derive(Debug, Default)]
pub struct Findings {
    /// The proofs, and the text of the generated items.
    pub verdict: Verdict,
    /// The mistakes with their places, apart from those in the form of items.
    pub told: Vec<(Span, ErrorText)>,
    /// The most serious outcome of the mistakes.
    pub outcome: Option<Outcome>,
    /// The sessions that name something that does not exist.
    pub left_out: BTreeSet<String>,
    /// The warnings.
    pub warnings: Vec<String>,
}

impl Findings {
    pub(crate) fn of(module: &Module, protocols: &Protocols) -> Self {
        let mut findings = Self::default();
        let (own, mut faults) = match scope::own(module, protocols).transpose() {
            Ok(own) => (own, findings.judge(module, protocols, own)),
            Err(fault) => (None, findings.leave_out_all(module, vec![*fault])),
        };
        if !module.errors.is_empty() {
            faults.retain(|fault| !fault.cause.is_of_missing_item());
        }
        findings.outcome = faults.iter().map(|fault| fault.cause.outcome()).max();
        // Several tokens may have the same mistake.
        let mut said = BTreeSet::new();
        let told = faults.iter().map(|fault| (fault.span, wording::told(fault, protocols, own)));
        findings.told = told.filter(|(_, told)| said.insert(told.headline().to_owned())).collect();
        findings
    }

    /// Judges a module for the protocol at this position.
    fn judge(&mut self, module: &Module, protocols: &Protocols, own: Option<usize>) -> Vec<Fault> {
        let loaded = own.map(|position| &protocols.protocols[position]);
        let (settings, mut faults) = Settings::new(&module.arguments, protocols.limits, loaded);
        let written = Scope::new(module, None, protocols, own);
        let anchor = written.anchor();
        let (machines, problems) =
            own.map(|position| machines::load(protocols, position)).unwrap_or_default();
        faults.extend(problems.into_iter().map(|cause| cause.at(anchor)));
        let two_structs = |fault: &Fault| matches!(fault.cause, Cause::TwoStructs { .. });
        if written.faults.iter().any(two_structs) {
            // The peers of a session are ambiguous.
            faults.extend(written.faults);
            return self.leave_out_all(module, faults);
        }
        for machine in &machines {
            let raced = loaded.and_then(|protocol| machine.raced(protocol));
            self.warnings.extend(machine.cut_off().into_iter().chain(raced));
        }
        let text = match codegen::write(&written, &machines) {
            Ok(text) => text,
            Err(cause) => {
                let labels = written.messages().flat_map(|of| written.labels(&of).into_values());
                let mut wrong: Vec<_> = labels.filter_map(|of| of.fault(of.ty.span())).collect();
                wrong.extend(written.faults);
                // Otherwise the item with the mistake is the reason.
                if wrong.is_empty() && module.errors.is_empty() {
                    wrong.push(cause.at(anchor));
                }
                faults.append(&mut wrong);
                return self.leave_out_all(module, faults);
            }
        };
        // A verdict does not depend on the documentation, which is most of the text. No other line
        // begins so: no name, sort or string of a protocol has a line break.
        let lines = text.split_inclusive('\n').filter(|it| !it.trim_start().starts_with("///"));
        let generated = parse(&lines.collect::<String>());
        let scope = Scope::new(module, Some(&generated), protocols, own);
        let mut judgement = sessions::judge(&scope, &settings, &machines);
        let is_generated = |machine: &&Machine| {
            let plays = |root: &Root| scope.roles[root.role].position == Some(machine.role);
            judgement.roots.iter().any(|root| plays(root) && scope.is_generated(root.item))
        };
        self.warnings.extend(machines.iter().filter(|machine| !is_generated(machine)).map(|it| {
            format!(
                "{}: the machine is not used, because the module writes this session",
                it.text.name
            )
        }));
        faults.append(&mut judgement.faults);
        if faults.is_empty() && module.errors.is_empty() {
            faults.extend(declared::judge(&scope, &mut judgement, &settings));
        }
        let passed = faults.is_empty() && module.errors.is_empty();
        self.add_facts(&scope, &judgement, &settings.limits.scribble.verifier, passed);
        self.verdict.text = text;
        self.left_out = judgement.left_out.iter().map(|&id| scope.name_of(id)).collect();
        if passed {
            self.warnings.extend(warnings(&scope, &judgement));
        }
        faults
    }

    /// Adds the facts about roles and sessions to the verdict.
    fn add_facts(&mut self, scope: &Scope<'_>, found: &Judgement, limits: &Limits, passed: bool) {
        let loaded = scope.loaded().map(|(loaded, _)| loaded);
        let module = scope.module.name.to_string();
        for root in &found.roots {
            let passed = passed && !root.refused;
            let machine = root.machine.as_ref().map(|machine| dot::print(&machine.fsm));
            let facts = RootFacts { passed, machine: machine.unwrap_or_default() };
            self.verdict.roots.insert(scope.name_of(root.item), facts);
        }
        let system = self.verdict.number(&found.capacities);
        let names = |(from, to): &(Role, Role)| (from.to_string(), to.to_string());
        self.verdict.protocol = ProtocolFacts {
            protocol: loaded.map_or(module, |loaded| loaded.name().to_owned()),
            system,
            projections: loaded.map_or_else(String::new, Loaded::text),
            on_demand: loaded.map_or_else(Vec::new, Loaded::on_demand),
            late: loaded.map_or_else(Vec::new, Loaded::late).iter().map(names).collect(),
            asked: loaded.map_or_else(Vec::new, |of| {
                of.protocol.asked().map(|label| label.to_string()).collect()
            }),
            differ: loaded.is_some_and(|of| of.protocol.differ(&of.projections)),
            stops: loaded.is_some_and(|of| of.protocol.stops(&of.projections)),
            closed: if found.is_closed { system } else { 0 },
        };
        let queues = capacities::find(scope, found, limits);
        let Verdict { roles, payloads, declared, .. } = &mut self.verdict;
        for (index, (role, queues)) in scope.roles.iter().zip(queues).enumerate() {
            let own = loaded.zip(role.position);
            let machines = found.roots.iter().filter(|root| root.role == index);
            let machines = machines.filter_map(|root| Some(&root.machine.as_ref()?.fsm));
            let mut machines =
                machines.chain(own.map(|(loaded, position)| &loaded.projections[position].fsm));
            let facts = RoleFacts {
                role: role.role.to_string(),
                queues,
                members: loaded.and_then(|loaded| loaded.protocol.members(&role.role)),
                connects: own
                    .and_then(|(loaded, position)| loaded.connected_by(position))
                    .map(Role::to_string),
                hears_whoever_is_first: machines.any(hears_whoever_is_first),
            };
            payloads.extend(role.labels.values().flat_map(|label| &label.checks).cloned());
            declared.extend(role.labels.values().filter_map(|label| {
                let (message, (_, file)) = (label.message.as_ref().ok()?, scope.loaded()?);
                Some((label.ty.to_string(), file.declared_in(message)))
            }));
            roles.insert(role.item.name.to_string(), facts);
        }
        let mut seen = BTreeSet::new();
        payloads.retain(|check| seen.insert(format!("{}.{}", check.label, check.field)));
    }

    /// Leaves out all sessions of a module that has these mistakes.
    fn leave_out_all(&mut self, module: &Module, faults: Vec<Fault>) -> Vec<Fault> {
        let sessions = module.items.iter().filter_map(Item::session);
        self.left_out = sessions.map(|session| session.name.to_string()).collect();
        faults
    }
}

/// True if, in some state, an action with one peer takes away the message of another one.
fn hears_whoever_is_first(fsm: &Fsm) -> bool {
    fsm.transitions().any(|by| {
        let (before, after) = (fsm.actions_from(by.source), fsm.actions_from(by.target));
        let is_gone = |other: &&Action| after.binary_search(other).is_err();
        let mut gone = before.into_iter().filter(is_gone);
        gone.any(|other| !other.is_send() && other.peer != by.action.peer)
    })
}

/// Parses generated items.
pub(crate) fn parse(text: &str) -> Vec<Item> {
    text.parse().map_or_else(|_| Vec::new(), |tokens| module::items(placeless(tokens)).0)
}

/// Moves tokens to the call site, where rustc puts the tokens that a macro lexes.
fn placeless(tokens: TokenStream) -> TokenStream {
    let trees = tokens.into_iter().map(|mut tree| {
        if let TokenTree::Group(group) = &tree {
            tree = Group::new(group.delimiter(), placeless(group.stream())).into();
        }
        tree.set_span(Span::call_site());
        tree
    });
    trees.collect()
}

/// The warnings about a module without a mistake.
fn warnings(scope: &Scope<'_>, judgement: &Judgement) -> Vec<String> {
    let Some((protocol, file)) = scope.loaded() else { return Vec::new() };
    let (file, name) = (file.shown(), protocol.name());
    let mut warnings = Vec::new();
    let combined = judgement.combined.as_ref();
    let starving = combined.and_then(|combined| {
        let run = combined.starvation.as_ref()?;
        let Failure::Starvation(role) = &run.failure else { return None };
        run.waits.iter().find(|wait| wait.role == *role)
    });
    if let Some(wait) = starving {
        warnings.push(format!(
            "{file}: in `{name}` with the sessions as they are, {wait}, perhaps for ever"
        ));
    } else {
        // The warning about waiting roles would repeat this one.
        warnings.extend(judgement.neglected.iter().map(|neglected| {
            let mut shown = neglected.clone();
            shown.meanwhile.truncate(1);
            let more = if shown == *neglected { "" } else { " and more" };
            // Not `worker[0]`.
            let role = neglected.role.as_str().split('[').next().unwrap_or_default();
            format!(
                "{file}: in `{name}`, {shown}{more} [V0413]\n  {}\n  `{}` accepts that, `every_run` refuses it",
                shown.meaning(),
                attribute(name, &format!("fair({role})"))
            )
        }));
    }
    let runs = |id: &ItemId| judgement.roots.iter().any(|root| root.items.contains(id));
    let written = (0..scope.module.items.len()).filter(|id| !runs(id));
    let unused = written.filter(|id| scope.session(*id).is_some_and(|it| it.chain().is_some()));
    warnings.extend(unused.map(|id| {
        format!(
            "in the module `{}`, `{}` belongs to no role of `{name}`, so no process can run it\n  write `#[session(Role)]` above it",
            scope.module.name,
            scope.name_of(id)
        )
    }));
    if let Some((root, condition)) = combined.and_then(|combined| combined.closed.as_ref()) {
        let session = scope.name_of(judgement.roots[*root].item);
        let why = match condition {
            Condition::Undirected(_) => String::new(),
            condition => format!(", since {}", beyond_subtyping(condition)),
        };
        warnings.push(format!(
            "{file}: `{session}` is proven safe with the sessions of this module, but not with every role that follows \
             `{name}`{why}\n  if every process is built from this module, write `{}`",
            attribute(name, "accept_closed_system")
        ));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use rumpsteak_front::module::ModuleKind;

    use super::*;

    /// The first lines of what is wrong with a closed system.
    fn told(items: &str) -> syn::Result<Vec<String>> {
        let source = format!(
            "mod ping {{
                #[session(C)] type Client = Send<S, Ping, Receive<S, Pong, End>>;
                #[session(S)] type Server = Receive<C, Ping, Send<C, Pong, End>>;
                {items}
            }}"
        );
        let module = Module::parse(ModuleKind::ClosedSystem, TokenStream::new(), source.parse()?)?;
        let told = Findings::of(&module, &Protocols::default()).told;
        let first = |(_, told): &(Span, ErrorText)| told.with_code().replace("\n\n", "; ");
        Ok(told.iter().map(first).collect())
    }

    #[test]
    fn a_label_that_no_item_declares_is_said_once() -> syn::Result<()> {
        let ping = "`Ping` is not an item of this module [V0101]; \
                    help: declare it, with what it carries: `struct Ping;` or `struct Ping(…);`";
        assert_eq!(told("struct Ping; struct Pong;")?, [""; 0]);
        assert_eq!(told("struct Pong;")?, [ping]);
        assert_eq!(told("struct Pong; use super::Ping;")?, [ping]);
        let meant = "`Ping` is not an item of this module [V0101]; help: did you mean `Pin`?";
        assert_eq!(told("struct Pong; struct Pin;")?, [meant]);
        let choice = "`Options` is not an item of this module [V0101]; help: declare it, with an option \
                      for each message: `enum Options { Label(Label, …), … }`";
        let other = "struct Ping; struct Pong; #[session(C)] type Other = Branch<S, Options>;";
        assert_eq!(told(other)?, [choice]);
        Ok(())
    }

    #[test]
    fn a_set_has_roles_of_its_module() -> syn::Result<()> {
        let labels = "struct Ping; struct Pong;";
        let told = |set: &str| told(&format!("{labels} #[derive(Roles)] {set}"));
        assert_eq!(told("struct Set { c: C, s: S }")?, [""; 0]);
        let unknown = "`String` is not an item of this module [V0101]; help: known are `C` and `S`";
        assert_eq!(told("struct Set { c: C, s: S, other: String }")?, [unknown]);
        let label = "`Ping` is not a role [V0104]; \
                     help: a role is generated, or a struct of this module with `#[derive(Role)]`";
        assert_eq!(told("struct Set { c: C, s: S, other: Ping }")?, [label]);
        Ok(())
    }
}
