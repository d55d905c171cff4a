//! Processes to fill in, for generated sessions.
//!
//! A process follows its session, and each payload and each choice is a `todo!()`. A session item
//! that comes back to itself is a loop:
//!
//! ```text
//! struct A(Receive<B, Ping, Select<B, C>>);    let mut a = s;
//! enum C { Pong(Pong, A), Stop(Stop, End) }    'a: loop { let s = a; … a = s; continue 'a; … }
//! ```

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Ident;
use rumpsteak_front::module::Item;
use rumpsteak_front::session::{Chain, Direction, SessionItem, Tail, Variant};
use rumpsteak_front::{Module, RoleItem, name};

use super::payloads::{flat, is_ident};
use crate::verdict::ProtocolFacts;
use crate::words::{either, list};

/// Deeper or later parts of a process are left out.
const DEEPEST: usize = 24;
const MOST_LINES: usize = 1_000;

/// The processes of the roles of a generated module, by the names of the roles in the protocol.
pub(crate) fn processes(module: &Module, facts: &ProtocolFacts) -> Vec<(String, String)> {
    let sessions = module.items.iter().filter_map(Item::session);
    let sessions: BTreeMap<_, _> = sessions.map(|item| (item.name.to_string(), item)).collect();
    let labels = module.items.iter().filter_map(Item::label);
    let fields = labels.map(|of| (of.name.to_string(), of.fields.as_ref().map(Vec::len)));
    let fields: BTreeMap<_, _> = fields.collect();
    let mut families = BTreeSet::new();
    for item in &module.items {
        let Item::Set(set) = item else { continue };
        families.extend(set.fields.iter().filter(|of| of.is_family).map(|of| of.role.to_string()));
    }
    let process = |role: &RoleItem| {
        let root = sessions.values().find(|item| item.role.as_ref() == Some(&role.name))?;
        let text = format!(
            "async fn {}({}s: {}<'_>) -> Ended<'_, {}> {{\n",
            function(&role.name),
            if families.contains(&role.name.to_string()) { "_index: usize, " } else { "" },
            root.name,
            role.name
        );
        let (sessions, fields, families) = (&sessions, &fields, &families);
        let (open, depth) = (Vec::new(), 1);
        let mut writer = Writer { sessions, fields, families, facts, text, depth, open };
        writer.named(&root.name.to_string(), None);
        let scribble = role.link.as_ref().map(|link| link.role.clone());
        Some((scribble.unwrap_or_else(|| name::snake(&role.name.to_string())), writer.text + "}\n"))
    };
    module.items.iter().filter_map(Item::role).filter_map(process).collect()
}

/// A program that runs a process for each role of a generated module. It gives the number of
/// members of so many families. Roles on demand may never be asked.
pub(crate) fn program(
    name: &str,
    module: &Module,
    processes: &[(String, String)],
    sizes: usize,
    on_demand: &[String],
) -> String {
    let functions = processes.iter().map(|(_, text)| &**text).collect::<Vec<_>>().join("\n");
    let played = module.items.iter().filter_map(|item| item.session()?.role.as_ref());
    let played: BTreeSet<&Ident> = played.collect();
    let roles = module.items.iter().filter_map(Item::role).map(|role| &role.name);
    let roles = roles.filter(|name| played.contains(name)).map(function);
    let (roles, module_name) = (roles.collect::<Vec<_>>().join(", "), &module.name);
    let made = match sizes {
        0 => "default()".to_owned(),
        _ => format!("sized({})", vec!["3"; sizes].join(", ")),
    };
    let run = match on_demand {
        [] => format!("Roles::{made}.run({roles}).await?;\n    Ok(())"),
        _ => format!(
            "todo!(\"`try_run` each role of `Roles::{made}`, and {} once for each connection\")",
            list(on_demand)
        ),
    };
    let declared = |ty: &String| format!("/// A payload, to fill in.\npub struct {ty} {{}}\n\n");
    let types: String = types(module).iter().map(declared).collect();
    let is_gap = |text| functions.contains(text);
    let unused = match ["(todo!", "= todo!", "return todo!", "(value"].into_iter().any(is_gap) {
        false if on_demand.is_empty() => "",
        _ => "#![expect(unused, reason = \"remove this line when no `todo!()` is left\")]\n\n",
    };
    let until = if functions.contains("Until::") { "use rumpsteak::states::Until;\n" } else { "" };
    format!(
        "{unused}use rumpsteak::{{Ended, Result}};\n{until}\n{types}#[rumpsteak::protocol({name})]\nmod {module_name} {{}}\nuse {module_name}::*;\n\n{}\n\
         #[tokio::main(flavor = \"current_thread\")]\nasync fn main() -> Result<()> {{\n    \
         {run}\n}}\n",
        functions
    )
}

/// The types of labels that the module around has to declare: `super::Job`.
fn types(module: &Module) -> BTreeSet<String> {
    let tokens = module.items.iter().filter_map(|item| match item {
        Item::Label(label) => Some(label.tokens.clone()),
        Item::Use(tokens) => Some(tokens.clone()),
        _ => None,
    });
    let words: Vec<_> = tokens.flat_map(flat).map(|tree| tree.to_string()).collect();
    let paths = words.windows(5).filter_map(|words| {
        let [outside, colon, _, name, next] = words else { return None };
        let is_near = colon == ":" && ["super", "crate"].contains(&&**outside);
        (is_near && next != ":" && next != "<").then(|| name.clone())
    });
    paths.collect()
}

fn function(role: &Ident) -> String {
    let name = name::snake(&role.to_string());
    if is_ident(&name) && name != "main" { name } else { format!("{name}_role") }
}

/// The direction and the peer of a choice.
type Ends<'a> = (Option<Direction>, Option<&'a Ident>);

struct Writer<'a> {
    sessions: &'a BTreeMap<String, &'a SessionItem>,
    /// The number of fields of each label; `None` if it is not known.
    fields: &'a BTreeMap<String, Option<usize>>,
    families: &'a BTreeSet<String>,
    facts: &'a ProtocolFacts,
    text: String,
    depth: usize,
    /// The items around, innermost last.
    open: Vec<String>,
}

impl<'a> Writer<'a> {
    fn line(&mut self, line: &str) {
        self.depth = self.depth.saturating_sub(usize::from(line.starts_with('}')));
        self.text += &format!("{}{line}\n", "    ".repeat(self.depth));
        self.depth += usize::from(line.ends_with('{'));
    }

    /// Goes on with an item, whose state is `s`. A choice has its direction and its peer.
    fn named(&mut self, item: &str, end: Option<Ends<'a>>) {
        let variable = name::snake(item);
        let Some(session) = self.sessions.get(item) else { return };
        // A gather that is due goes on as itself, without a direction.
        let state = if session.rest().is_some() && end.is_some() { "s.gather()" } else { "s" };
        if self.open.iter().any(|open| open == item) {
            self.line(&format!("{variable} = {state};"));
            return self.line(&format!("continue '{variable};"));
        }
        if self.depth > DEEPEST || self.text.lines().count() > MOST_LINES {
            return self.line("return todo!(\"go on as elsewhere: {s:?}\");");
        }
        self.open.push(item.to_owned());
        let is_loop = self.repeats(item);
        if is_loop {
            self.line(&format!("let mut {variable} = {state};"));
            self.line(&format!("'{variable}: loop {{"));
            self.line(&format!("let s = {variable};"));
        } else if state != "s" {
            self.line(&format!("let s = {state};"));
        }
        match (session.chain(), end, self.drained(session, end)) {
            (Some(chain), ..) => self.chain(chain, item),
            (None, Some(_), Some(out)) => {
                self.line("let s = s.drain_each().await?;");
                self.chain(out, item);
            }
            (None, Some(end), None) => self.choice(session, end),
            (None, None, _) => {}
        }
        self.open.pop();
        if is_loop {
            self.line("}");
        }
    }

    /// The session behind a choice, if the role drops what members send differently there.
    fn drained<'i>(&self, item: &'i SessionItem, end: Option<Ends<'_>>) -> Option<&'i Chain> {
        let (direction, peer) = end.unwrap_or((Some(Direction::Receive), None));
        let (out, again) = item.way_out().filter(|_| direction == Some(Direction::Receive))?;
        (self.facts.differ && self.is_family(peer.or(again))).then_some(out)
    }

    /// True if a session comes back to this item, but not through an item around.
    fn repeats(&self, item: &str) -> bool {
        let (mut found, mut pending) = (BTreeSet::new(), vec![item.to_owned()]);
        while let Some(next) = pending.pop() {
            let Some(session) = self.sessions.get(&next) else { continue };
            let out = self.drained(session, None).map(|out| vec![out]);
            for chain in out.unwrap_or_else(|| session.chains().collect()) {
                let part = match &chain.tail {
                    Tail::End(_) => continue,
                    Tail::Choice { choice: part, .. } | Tail::Named(part) if *part != "Self" => {
                        part.to_string()
                    }
                    _ => next.clone(),
                };
                if part == item {
                    return true;
                }
                if !self.open.contains(&part) && found.insert(part.clone()) {
                    pending.push(part);
                }
            }
        }
        false
    }

    fn chain(&mut self, chain: &'a Chain, item: &str) {
        for action in &chain.actions {
            let (label, peer) = (action.label.to_string(), Some(&action.peer));
            let members = self.members(peer, &label);
            let line = match action.direction {
                Direction::Send => self.sending("send", "", members, &label),
                Direction::Receive if members == "_each" => {
                    let take = format!("|_index, {}| todo!()", self.pattern(&label));
                    format!("let s = s.receive_each({take}).await?;")
                }
                Direction::Receive => {
                    let pattern = self.pattern(&label);
                    format!("let ({pattern}, s) = s.receive{members}().await?;")
                }
            };
            self.line(&line);
        }
        let named = |name: &Ident| if *name == "Self" { item.to_owned() } else { name.to_string() };
        match &chain.tail {
            Tail::End(_) => self.line("return s.end(());"),
            Tail::Itself(_) => self.named(item, None),
            Tail::Named(name) => self.named(&named(name), None),
            Tail::Choice { direction, peer, choice, .. } => {
                self.named(&named(choice), Some((*direction, peer.as_ref())));
            }
        }
    }

    fn choice(&mut self, item: &'a SessionItem, (direction, peer): Ends<'a>) {
        let name = item.name.to_string();
        let action = |of: &Variant| direction.or(of.head.action().map(|action| action.direction));
        let sends = |of: &&Variant| action(of) == Some(Direction::Send);
        let (sent, heard): (Vec<_>, Vec<_>) = item.variants().iter().partition(sends);
        if heard.is_empty() {
            return self.select(&sent, peer, &name);
        }
        let arm = |of: &&'a Variant| {
            let pattern = self.pattern(&of.head.label().to_string());
            (format!("{name}::{}({pattern}, s)", of.name), &of.then)
        };
        let mut arms: Vec<(String, &'a Chain)> = heard.iter().map(arm).collect();
        arms.extend(item.rest().map(|rest| (format!("{name}::{}(s)", rest.name), &rest.then)));
        let mut members = heard.iter().map(|of| self.members_of(of, peer));
        let each = members.find(|of| !of.is_empty()).unwrap_or_default();
        let take = if each == "_each" { "|_index, _message| todo!(), " } else { "" };
        let call = match direction {
            None => {
                let labels = either(sent.iter().map(|option| option.head.label()));
                format!("until{each}({take}async {{ todo!(\"wait, then send {labels}\") }})")
            }
            Some(_) if item.rest().is_some() => "next()".to_owned(),
            Some(_) => format!("branch{each}({})", take.trim_end_matches(", ")),
        };
        self.line(&format!("match s.{call}.await? {{"));
        let heard = if direction.is_none() { ("Until::Heard(", ")") } else { ("", "") };
        for (pattern, then) in arms {
            self.line(&format!("{}{pattern}{} => {{", heard.0, heard.1));
            self.chain(then, &name);
            self.line("}");
        }
        if direction.is_none() {
            self.line("Until::Wished((), s) => {");
            self.select(&sent, peer, &name);
            self.line("}");
        }
        self.line("}");
    }

    /// Selects one of the options of a choice.
    fn select(&mut self, options: &[&'a Variant], peer: Option<&Ident>, item: &str) {
        if let [option] = options {
            return self.send(option, peer, item);
        }
        let names = list(options.iter().map(|option| &option.name));
        self.line(&format!("let option: usize = todo!(\"choose one of {names}\");"));
        self.line("match option {");
        for (number, option) in (1..).zip(options) {
            let pattern = (number < options.len()).then(|| (number - 1).to_string());
            self.line(&format!("{} => {{", pattern.as_deref().unwrap_or("_")));
            self.send(option, peer, item);
            self.line("}");
        }
        self.line("}");
    }

    fn send(&mut self, option: &'a Variant, peer: Option<&Ident>, item: &str) {
        let to = option.head.action().filter(|_| peer.is_none());
        let to = to.map_or(String::new(), |action| format!("::<{}, _>", action.peer));
        let (label, members) = (option.head.label().to_string(), self.members_of(option, peer));
        self.line(&self.sending("select", &to, members, &label));
        self.chain(&option.then, item);
    }

    fn sending(&self, method: &str, to: &str, members: &str, label: &str) -> String {
        let first = match members {
            "_each" => "|_index| ",
            "_one" => "todo!(), ",
            _ => "",
        };
        format!("let s = s.{method}{members}{to}({first}{}).await?;", self.value(label))
    }

    fn members_of(&self, option: &Variant, peer: Option<&Ident>) -> &'static str {
        let peer = peer.or(option.head.action().map(|action| &action.peer));
        self.members(peer, &option.head.label().to_string())
    }

    /// The end of the name of a method: for each member of a family, for one, or for a role.
    fn members(&self, peer: Option<&Ident>, label: &str) -> &'static str {
        match self.is_family(peer) {
            true if self.facts.asked.iter().any(|asked| name::same(asked, label)) => "_one",
            true => "_each",
            false => "",
        }
    }

    fn is_family(&self, peer: Option<&Ident>) -> bool {
        peer.is_some_and(|peer| self.families.contains(&peer.to_string()))
    }

    fn value(&self, label: &str) -> String {
        match self.fields.get(label).copied().flatten() {
            Some(0) => label.to_owned(),
            Some(fields) => format!("{label}({})", vec!["todo!()"; fields].join(", ")),
            None => format!("std::convert::identity::<{label}>(todo!())"),
        }
    }

    fn pattern(&self, label: &str) -> String {
        match self.fields.get(label).copied().flatten() {
            Some(0) => label.to_owned(),
            Some(1) => format!("{label}(value)"),
            Some(fields) => {
                let names = (1..=fields).map(|number| format!("value{number}"));
                format!("{label}({})", names.collect::<Vec<_>>().join(", "))
            }
            None => "message".to_owned(),
        }
    }
}
