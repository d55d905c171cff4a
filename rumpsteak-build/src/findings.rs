//! A module, from its tokens to its verdict: through each room once.

use std::collections::BTreeSet;
use std::slice;

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::quote;
use rumpsteak_front::module::{Item, Module, ModuleKind};
use rumpsteak_fsm::text::{self, Form};
use rumpsteak_fsm::{Direction, Fsm};

use crate::codegen;
use crate::codegen::machines::{self, Folders};
use crate::fault::{Cause, Fault};
use crate::gravity::Gravity;
use crate::judge::sessions::{self, Judgement};
use crate::judge::{self, capacities};
use crate::package_root::PackageRoot;
use crate::protocols::Protocols;
use crate::report::wording::{self, Told};
use crate::scope::{self, Scope};
use crate::settings::Settings;
use crate::verdict::{Machine, RoleFacts, RootFacts, Verdict};
use crate::warnings;

/// The result for a module.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) verdict: Verdict,
    /// The items that the module does not write.
    pub(crate) generated: Vec<Item>,
    /// The mistakes with their places, beside those in the form of items.
    pub(crate) told: Vec<(Span, Told)>,
    /// What the gravest mistake means for the package.
    pub(crate) gravity: Option<Gravity>,
    /// The sessions that name something that is not there.
    pub(crate) left_out: BTreeSet<String>,
    /// One line for each thing that is right and may surprise.
    pub(crate) warnings: Vec<String>,
}

impl Findings {
    /// The findings of a module whose verdict is known.
    pub(crate) fn known(module: &Module, verdict: Verdict) -> Self {
        let generated = parse(module, &verdict.text);
        Self { verdict, generated, ..Self::default() }
    }

    /// Judges a module.
    pub(crate) fn of(module: &Module, protocols: &Protocols, base: &PackageRoot) -> Self {
        let mut findings = Self::default();
        let mut faults = findings.judge(module, protocols, base);
        if !module.errors.is_empty() {
            faults.retain(|fault| !fault.is_of_missing_item());
        }
        findings.gravity = faults.iter().map(|fault| fault.cause.gravity()).max();
        let told = faults.iter().map(|fault| (fault.span, wording::told(fault, protocols)));
        findings.told = told.collect();
        findings
    }

    /// Judges a module, and returns the mistakes.
    fn judge(&mut self, module: &Module, protocols: &Protocols, base: &PackageRoot) -> Vec<Fault> {
        let protocol = match &module.arguments.protocol {
            Some(name) => match scope::protocol(protocols, &name.to_string()) {
                Ok(position) => Some(position),
                Err(cause) => return self.leave_out(module, cause.at(name.span())),
            },
            None => None,
        };
        let loaded = protocol.map(|position| &protocols.protocols[position]);
        let limits = protocols.limits;
        let (settings, mut faults) = Settings::new(&module.arguments, limits, loaded);
        let written = Scope::written(module, protocols, protocol);
        let anchor = written.anchor();
        let (machines, problems) = match protocol {
            Some(position) => machines::load(&Folders::default(), protocols, position, base),
            None => Default::default(),
        };
        faults.extend(problems.into_iter().map(|cause| cause.at(anchor)));
        let two_structs = |fault: &Fault| matches!(fault.cause, Cause::TwoStructs { .. });
        if written.faults.iter().any(two_structs) {
            // Nothing that a session says of its peers has a meaning then.
            self.leave_out_all(module);
            faults.extend(written.faults);
            return faults;
        }
        // The words are those of the machine: its session is generated, and not the user's.
        let refused = judge::machines::problems(&machines, protocols, &settings);
        let machines_of = machines.iter().map(|machine| machine.linked.role).collect();
        self.warnings = warnings::of_machines(&machines, protocols);
        let text = match written.loaded() {
            Some(loaded) => codegen::write(&written, loaded, &machines, limits.generated_lines),
            None => Ok(codegen::closed(&written)),
        };
        let text = match text {
            Ok(text) => text,
            Err(cause) => {
                let plain = written
                    .loaded()
                    .map(|loaded| codegen::write(&written, loaded, &[], limits.generated_lines));
                let is_writable = plain.is_some_and(|text| text.is_ok());
                faults.extend(unwritable(&written, (cause, is_writable), refused));
                self.leave_out_all(module);
                return faults;
            }
        };
        self.generated = parse(module, &text);
        let generated = std::mem::take(&mut self.generated);
        let scope = Scope::whole(module, &generated, protocols, protocol);
        let mut judgement = sessions::judge(&scope, &settings, &machines_of);
        faults.append(&mut judgement.faults);
        let is_accepted = judgement.closed_system.as_ref().is_some_and(|system| system.is_accepted);
        if !is_accepted {
            if refused.is_empty() {
                faults.append(&mut judgement.of_machines);
            }
            let note = judgement.closed_system.as_ref().and_then(|system| system.note.clone());
            faults.extend(refused.into_iter().map(|cause| {
                let is_judged = matches!(cause, Cause::Refused(_) | Cause::Undecided { .. });
                let note = note.clone().filter(|_| is_judged);
                Fault { note, ..cause.at(anchor) }
            }));
        }
        let passed = faults.is_empty() && module.errors.is_empty();
        self.facts(&scope, &judgement, &settings, passed);
        self.verdict.text = text;
        self.left_out = judgement.left_out.iter().map(|&id| scope.name_of(id)).collect();
        if passed {
            self.warnings.extend(warnings::of_module(&scope, &judgement));
        }
        self.generated = generated;
        faults
    }

    /// Notes what is known of the roles and sessions.
    fn facts(
        &mut self,
        scope: &Scope<'_>,
        judgement: &Judgement,
        settings: &Settings,
        passed: bool,
    ) {
        let loaded = scope.loaded().map(|(loaded, _)| loaded);
        let name = scope.module().name.to_string();
        let system = judgement.number();
        let queues = capacities::find(scope, judgement, &settings.limits.verifier);
        for (role, queues) in scope.roles.iter().zip(queues) {
            let facts = RoleFacts {
                protocol: loaded.map_or_else(|| name.clone(), |loaded| loaded.name().to_owned()),
                role: role.role.to_string(),
                queues,
                system,
                projections: loaded.map_or_else(String::new, |loaded| loaded.text().to_owned()),
                on_demand: loaded.map_or_else(Vec::new, |loaded| loaded.on_demand()),
                closed: if judgement.is_closed { system } else { 0 },
            };
            self.verdict
                .payloads
                .extend(role.labels.values().flat_map(|label| &label.checks).cloned());
            self.verdict.roles.insert(role.item.name.to_string(), facts);
        }
        let mut seen = BTreeSet::new();
        self.verdict.payloads.retain(|check| seen.insert((check.label.clone(), check.field)));
        for root in &judgement.roots {
            let fsm = root.machine.as_ref().map(|machine| &machine.fsm);
            let (machine, picture) = (fsm.map(table), fsm.map(picture).unwrap_or_default());
            let facts = RootFacts { passed: passed && !root.refused, machine, picture };
            self.verdict.roots.insert(scope.name_of(root.item), facts);
        }
    }

    /// Leaves out all sessions of a module whose protocol is not known.
    fn leave_out(&mut self, module: &Module, fault: Fault) -> Vec<Fault> {
        self.leave_out_all(module);
        vec![fault]
    }

    fn leave_out_all(&mut self, module: &Module) {
        let sessions = module.items.iter().filter_map(|item| match item {
            Item::Session(session) => Some(session.name.to_string()),
            _ => None,
        });
        self.left_out = sessions.collect();
    }
}

/// The faults of a module whose items cannot be generated, for this reason. If all could be written
/// without the machines beside the protocol, those are wrong.
fn unwritable(
    written: &Scope<'_>,
    (cause, is_writable): (Cause, bool),
    refused: Vec<Cause>,
) -> Vec<Fault> {
    // What cannot be generated for an item with a mistake is no other mistake.
    let mut wrong = written.wrong_labels();
    wrong.extend(written.faults.iter().cloned());
    let anchor = written.anchor();
    if wrong.is_empty() && written.module().errors.is_empty() {
        match is_writable && !refused.is_empty() {
            true => wrong.extend(refused.into_iter().map(|cause| cause.at(anchor))),
            false => wrong.push(cause.at(anchor)),
        }
    }
    wrong
}

/// The items in generated text. Their tokens have no place.
pub(crate) fn parse(module: &Module, text: &str) -> Vec<Item> {
    let Ok(items) = text.parse::<TokenStream>() else { return Vec::new() };
    let items = placeless(items);
    let arguments = match module.kind {
        ModuleKind::Protocol => {
            let name = &module.arguments.protocol;
            quote!(#name)
        }
        ModuleKind::ClosedSystem => TokenStream::new(),
    };
    let parsed = Module::parse(module.kind, arguments, quote!(mod generated { #items }));
    parsed.map_or_else(|_| Vec::new(), |parsed| parsed.items)
}

/// The tokens at the call site: as rustc lexes them in a macro anyway.
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

/// A picture of a machine, if it is small enough to be looked at.
fn picture(fsm: &Fsm) -> String {
    const MOST: usize = 100;
    if fsm.transition_count() > MOST {
        return String::new();
    }
    text::print(Form::Svg, slice::from_ref(fsm)).unwrap_or_default()
}

/// A machine that was judged, for programs that ask at run time.
fn table(fsm: &Fsm) -> Machine {
    let transitions = fsm.transitions().map(|transition| {
        let action = &transition.action;
        let payload = action.message.payload.iter();
        (
            transition.source.index(),
            action.direction == Direction::Send,
            action.peer.to_string(),
            action.message.label.to_string(),
            payload.map(ToString::to_string).collect(),
            transition.target.index(),
        )
    });
    (fsm.role().to_string(), fsm.len(), fsm.initial().index(), transitions.collect())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

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
        let base = PackageRoot::new(Path::new(""));
        let told = Findings::of(&module, &Protocols::default(), &base).told;
        let first = |(_, told): &(Span, Told)| told.with_code().replace("\n\n", "; ");
        Ok(told.iter().map(first).collect())
    }

    #[test]
    fn a_label_that_no_item_declares_is_said_once() -> syn::Result<()> {
        let ping = "`Ping` is no item of this module [V0101]; \
                    help: declare it, with what it carries: `struct Ping;` or `struct Ping(…);`";
        assert_eq!(told("struct Ping; struct Pong;")?, [""; 0]);
        assert_eq!(told("struct Pong;")?, [ping]);
        assert_eq!(told("struct Pong; use super::Ping;")?, [ping]);
        let meant = "`Ping` is no item of this module [V0101]; help: did you mean `Pin`?";
        assert_eq!(told("struct Pong; struct Pin;")?, [meant]);
        Ok(())
    }

    #[test]
    fn a_set_has_roles_of_its_module() -> syn::Result<()> {
        let labels = "struct Ping; struct Pong;";
        let told = |set: &str| told(&format!("{labels} #[derive(Roles)] {set}"));
        assert_eq!(told("struct Set { c: C, s: S }")?, [""; 0]);
        let unknown = "`String` is no item of this module [V0101]; help: known are `C` and `S`";
        assert_eq!(told("struct Set { c: C, s: S, other: String }")?, [unknown]);
        let label = "`Ping` is no role [V0104]; \
                     help: a role is generated, or a struct of this module with `#[derive(Role)]`";
        assert_eq!(told("struct Set { c: C, s: S, other: Ping }")?, [label]);
        Ok(())
    }
}
