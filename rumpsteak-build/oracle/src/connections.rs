//! Random protocols that connect their roles, as Scribble text.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;

use crate::protocol::{Global, role_name};

/// The pairs of roles that are connected, the smaller number first.
type Connections = BTreeSet<(usize, usize)>;

impl Global {
    /// The protocol with its connections. The first message between two roles connects them. They
    /// are disconnected when a loop begins again, and sometimes in between.
    ///
    /// Protocols with blocks have no connections.
    pub fn explicit(&self, rng: &mut Rng, name: &str, roles: usize) -> String {
        let names: Vec<String> =
            (0..roles).map(|role| format!("role {}", role_name(role))).collect();
        let mut writer = Writer { rng, text: String::new() };
        writer.write(self, Connections::new(), &BTreeMap::new());
        format!("explicit global protocol {name}({}) {{\n{}}}\n", names.join(", "), writer.text)
    }
}

struct Writer<'a> {
    rng: &'a mut Rng,
    text: String,
}

impl Writer<'_> {
    /// `loops` has the connected pairs at the start of each loop.
    fn write(
        &mut self,
        global: &Global,
        mut connected: Connections,
        loops: &BTreeMap<usize, Connections>,
    ) {
        match global {
            Global::End | Global::Block { .. } => {}
            Global::Message { from, to, label, payload, then } => {
                let is_new = connected.insert((*from.min(to), *from.max(to)));
                let word = if is_new { "connect" } else { "from" };
                let (from, to) = (role_name(*from), role_name(*to));
                let payload = payload.unwrap_or_default();
                self.text += &format!("  {label}({payload}) {word} {from} to {to};\n");
                if self.rng.usize(..8) == 0
                    && let Some(&pair) = connected.iter().next()
                {
                    self.disconnect(pair);
                    connected.remove(&pair);
                }
                self.write(then, connected, loops);
            }
            Global::Choice { at, branches } => {
                self.text += &format!("  choice at {} ", role_name(*at));
                for (index, branch) in branches.iter().enumerate() {
                    self.text += if index == 0 { "{\n" } else { " or {\n" };
                    self.write(branch, connected.clone(), loops);
                    self.text += "  }";
                }
                self.text += "\n";
            }
            Global::Rec { name, body } => {
                self.text += &format!("  rec X{name} {{\n");
                let mut inner = loops.clone();
                inner.insert(*name, connected.clone());
                self.write(body, connected, &inner);
                self.text += "  }\n";
            }
            Global::Continue(name) => {
                for &pair in connected.difference(&loops[name]) {
                    self.disconnect(pair);
                }
                self.text += &format!("  continue X{name};\n");
            }
        }
    }

    fn disconnect(&mut self, (one, other): (usize, usize)) {
        self.text += &format!("  disconnect {} and {};\n", role_name(one), role_name(other));
    }
}
