//! Generates the items that a module lacks: roles, messages, the set, and sessions.
//!
//! ```text
//! double_buffering.scr ── project ─┐
//! double_buffering.k.dot ── read ──┴─ session ─▶ items of the module
//! ```
//!
//! The code looks hand-written and is not trusted: its sessions are judged like all sessions. The
//! text depends only on the module, its protocol and the machines beside it, and contains no paths.

mod choice_names;
mod closed;
pub(crate) mod machines;
mod names;
mod payloads;
mod print;
mod session;
#[cfg(feature = "command")]
pub(crate) mod standalone;

use self::choice_names::{Origin, named};
use self::closed::closed;
use self::machines::Machine;
use self::names::Names;
use self::print::{print_item, print_labels, print_role, print_set};
use crate::fault::Cause;
use crate::protocols::{Loaded, ScrFile};
use crate::scope::Scope;

/// The items that a module lacks, as text. `machines` replace projections.
pub(crate) fn write(scope: &Scope<'_>, machines: &[Machine]) -> Result<String, Cause> {
    let Some((protocol, file)) = scope.loaded() else { return Ok(closed(scope)) };
    let refuse = |reason| Cause::Unwritable { protocol: protocol.name().to_owned(), reason };
    items(scope, protocol, file, machines).map_err(refuse)
}

fn items(
    scope: &Scope<'_>,
    protocol: &Loaded,
    file: &ScrFile,
    machines: &[Machine],
) -> Result<String, String> {
    let most = scope.protocols.limits.generated_lines;
    let mut names = Names::new(scope, protocol, file)?;
    let named = named(file)?;
    let mut text = String::new();
    if scope.lacks_set() {
        print_set(&mut text, protocol, file, &names);
    }
    for position in 0..names.roles.len() {
        if !names.roles[position].is_written {
            print_role(&mut text, protocol, position, &names);
        }
    }
    print_labels(&mut text, scope, protocol, &names);
    let mut lines = 0;
    for (role, projection) in protocol.projections.iter().enumerate() {
        if names.roles[role].has_session || !names.roles[role].has_process {
            continue;
        }
        let machine = machines.iter().find(|machine| machine.role == role);
        let fsm = machine.map_or(&projection.fsm, |machine| &machine.fsm);
        let base = names.roles[role].ty.clone();
        let is_projected = machine.is_none();
        let gathers = !names.roles.iter().any(|role| role.is_family);
        let written = Some(Origin { projection, is_projected, gathers, named: &named });
        let items = session::items(fsm, &format!("{base}Session"), base, &mut names, written)?;
        let before = text.len();
        for (index, item) in items.iter().enumerate() {
            let root = (index == 0).then_some((fsm, machine));
            print_item(&mut text, item, root, &names.roles[role], &items[0], &names);
        }
        lines += text[before..].matches('\n').count();
        if lines > most {
            return Err(format!(
                "it would have more than {most} lines\n\n\
                 help: let fewer roles interrupt a block, let a `par` have fewer parts, or raise the limit: \
                 `limits(generated_lines = …)` in the attribute"
            ));
        }
    }
    Ok(text)
}
