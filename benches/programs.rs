//! Programs of two roles that send each other many messages in turns, to measure rustc.

use std::fmt::Write as _;

/// The library below the roles of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// The session types alone, with processes that do nothing.
    Types,
    /// The processes as well, in one `async` function each.
    Session,
    /// The same in an empty module.
    Generated,
    /// The same over `rumpsteak` 0.1.
    Original,
    /// The same over `ferrite-session`.
    Ferrite,
    /// As many awaits of tokio's bounded channels.
    Channels,
    /// As many awaits of a state that borrows and is dropped, without sessions: the least.
    Bare,
    /// The same with a type for each state, so that rustc does nothing twice.
    Linear,
}

impl Program {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Types,
        Self::Session,
        Self::Generated,
        Self::Original,
        Self::Ferrite,
        Self::Channels,
        Self::Bare,
        Self::Linear,
    ];

    /// The largest number of measured actions: `rumpsteak` 0.1 took more than eight
    /// minutes for 200, and `ferrite-session` 31 s and 4 GB for 60, and more than 14 GB for 120.
    #[must_use]
    pub fn most(self) -> usize {
        match self {
            Self::Original => 60,
            Self::Ferrite => 20,
            _ => usize::MAX,
        }
    }

    /// The dependencies in a manifest; `ours` is the form of a dependency on a crate of this
    /// project.
    pub fn dependencies(self, ours: impl Fn(&str) -> String) -> String {
        match self {
            Self::Types | Self::Session | Self::Generated => format!(
                "[dependencies]\nrumpsteak = {}\n\n[build-dependencies]\nrumpsteak-build = {}\n",
                ours("rumpsteak-runtime"),
                ours("rumpsteak-build")
            ),
            Self::Original => "[dependencies]\nrumpsteak = \"=0.1.0\"\n".to_owned(),
            Self::Ferrite => "[dependencies]\nferrite-session = \"0.3\"\n".to_owned(),
            Self::Channels => {
                "[dependencies]\ntokio = { version = \"1\", features = [\"sync\"] }\n".to_owned()
            }
            Self::Bare | Self::Linear => String::new(),
        }
    }

    /// The other files, and their texts, of a program whose roles do so many actions each.
    #[must_use]
    pub fn files(self, count: usize) -> Vec<(&'static str, String)> {
        let source = match self {
            Self::Types | Self::Session | Self::Generated => self.ours(count),
            Self::Original => original(count),
            Self::Ferrite => ferrite(count),
            Self::Channels => channels(count),
            Self::Bare => bare(count),
            Self::Linear => linear(count),
        };
        let mut files = vec![("src/main.rs", source)];
        if matches!(self, Self::Types | Self::Session | Self::Generated) {
            files.push(("build.rs", BUILD.to_owned()));
            files.push(("protocols/many.scr", protocol(count)));
        }
        files
    }

    fn ours(self, count: usize) -> String {
        let items = match self {
            Self::Generated => String::new(),
            _ => format!(
                "{ROLES}
    #[session(A)] pub type ASession = {};
    #[session(B)] pub type BSession = {};
",
                session(count, "B", ["Send", "Receive"], "End"),
                session(count, "A", ["Receive", "Send"], "End")
            ),
        };
        let mut text =
            format!("#[rumpsteak::protocol(Many)]\npub mod many {{{items}}}\nuse many::*;\n");
        for (role, steps) in [("A", SENDS), ("B", RECEIVES)] {
            let (name, steps) = (role.to_lowercase(), actions(count, steps));
            let body = match self {
                Self::Types => "panic!(\"{s:?}\")".to_owned(),
                _ => format!("{steps} Ok(((), s))"),
            };
            let _ = write!(
                text,
                "pub async fn {name}(role: &mut {role}) -> rumpsteak::Result<()> {{
    rumpsteak::try_run(role, async |s: {role}Session<'_>| {{ {body} }}).await
}}
"
            );
        }
        text + "fn main() { let Roles { mut a, mut b } = Roles::default(); let _ = (crate::a(&mut a), crate::b(&mut b)); }\n"
    }
}

fn protocol(actions: usize) -> String {
    let mut text = "module many;\ndata <rust> \"i32\" from \"std\" as i32;\n\
                    global protocol Many(role a, role b) {\n"
        .to_owned();
    for number in 0..actions {
        text += ["  ping(i32) from a to b;\n", "  pong(i32) from b to a;\n"][number % 2];
    }
    text + "}\n"
}

const BUILD: &str = "fn main() -> Result<(), rumpsteak_build::Report> {
    rumpsteak_build::verify(\"protocols\")?;
    Ok(())
}
";

const ROLES: &str = "
    #[derive(Roles)] pub struct Roles { pub a: A, pub b: B }
    #[derive(Role)] #[message(Label)] pub struct A { #[route(B)] b: Channel<Label> }
    #[derive(Role)] #[message(Label)] pub struct B { #[route(A)] a: Channel<Label> }
    #[derive(Message)] pub enum Label { Ping(Ping), Pong(Pong) }
    pub struct Ping(pub i32);
    pub struct Pong(pub i32);
";

/// The session of `a` or, with the directions exchanged, of `b`; `end` ends it.
fn session(actions: usize, peer: &str, [ping, pong]: [&str; 2], end: &str) -> String {
    let mut text = String::new();
    for number in 0..actions {
        text += &[format!("{ping}<{peer}, Ping, "), format!("{pong}<{peer}, Pong, ")][number % 2];
    }
    format!("{text}{end}{}", ">".repeat(actions))
}

/// The actions of the role that does `first` where `a` sends.
fn actions(count: usize, [ping, pong]: [&str; 2]) -> String {
    (0..count).map(|number| [ping, pong][number % 2]).collect()
}

const SENDS: [&str; 2] =
    ["let s = s.send(Ping(1)).await?;\n", "let (Pong(_), s) = s.receive().await?;\n"];
const RECEIVES: [&str; 2] =
    ["let (Ping(_), s) = s.receive().await?;\n", "let s = s.send(Pong(1)).await?;\n"];

fn original(count: usize) -> String {
    let mut text = "#![recursion_limit = \"4096\"]
use rumpsteak::role::{Role, Roles, ToFrom};
use rumpsteak::{End, Label, Receive, Result, Send, try_session};
#[derive(Roles)] pub struct Roles(pub A, pub B);
#[derive(Role)] #[message(Message)] pub struct A(#[route(B)] ToFrom<B>);
#[derive(Role)] #[message(Message)] pub struct B(#[route(A)] ToFrom<A>);
#[derive(Label)] pub enum Message { Ping(Ping), Pong(Pong) }
pub struct Ping(pub i32);
pub struct Pong(pub i32);
"
    .to_owned();
    for (role, peer, steps, [ping, pong]) in
        [("A", "B", SENDS, ["Send", "Receive"]), ("B", "A", RECEIVES, ["Receive", "Send"])]
    {
        let words = [format!("{ping}<'s, {role},"), format!("{pong}<'s, {role},")];
        let ty = session(count, peer, [&words[0], &words[1]], "End<'s>").replace(",<", ", ");
        let steps = actions(count, steps).replace(")).await?", "))?");
        let name = role.to_lowercase();
        let _ = write!(
            text,
            "type {role}Session<'s> = {ty};
pub async fn {name}(role: &mut {role}) -> Result<()> {{
    try_session(role, |s: {role}Session<'_>| async {{ {steps} Ok(((), s)) }}).await
}}
"
        );
    }
    text + "fn main() { let Roles(mut a, mut b) = Roles::default(); let _ = (crate::a(&mut a), crate::b(&mut b)); }\n"
}

/// The second role is the client of the first one's session.
fn ferrite(count: usize) -> String {
    let nested = |pair, end: &str, close: &str| {
        format!("{}{end}{}", actions(count, pair), close.repeat(count))
    };
    let ty = nested(["SendValue<Ping, ", "ReceiveValue<Pong, "], "End", ">");
    let first = ["send_value!(Ping(1), ", "receive_value!((_pong: Pong) => "];
    let second = ["receive_value_from!(s, (_ping: Ping) => ", "send_value_to!(s, Pong(1), "];
    format!(
        "#![recursion_limit = \"4096\"]
use ferrite_session::prelude::*;
pub struct Ping(pub i32);
pub struct Pong(pub i32);
type A = {ty};
pub fn a() -> Session<A> {{ {} }}
pub fn b() -> Session<ReceiveChannel<A, End>> {{ receive_channel!(s => {}) }}
fn main() {{ let _ = apply_channel(b(), a()); }}
",
        nested(first, "terminate!()", ")"),
        nested(second, "wait!(s, terminate!())", ")"),
    )
}

fn channels(count: usize) -> String {
    let steps = ["tx.send(1).await.ok()?;\n", "rx.recv().await?;\n"];
    let (a, b) = (actions(count, steps), actions(count, [steps[1], steps[0]]));
    format!(
        "use tokio::sync::mpsc::{{Receiver, Sender, channel}};
pub async fn a(tx: Sender<i32>, mut rx: Receiver<i32>) -> Option<()> {{ {a} Some(()) }}
pub async fn b(tx: Sender<i32>, mut rx: Receiver<i32>) -> Option<()> {{ {b} Some(()) }}
fn main() {{ let (tx, rx) = channel(1); let (far, near) = channel(1); let _ = (a(tx, near), b(far, rx)); }}
"
    )
}

const STATE: &str = "
pub struct State<'s>(&'s mut i32);
impl Drop for State<'_> { fn drop(&mut self) { *self.0 += 1; } }
pub struct Ping(pub i32);
pub struct Pong(pub i32);
";

fn bare(count: usize) -> String {
    let steps = actions(
        count,
        ["let s = send(s, Ping(1)).await?;\n", "let (Pong(_), s) = receive(s).await?;\n"],
    );
    format!(
        "{STATE}
async fn send(state: State<'_>, ping: Ping) -> Result<State<'_>, ()> {{ *state.0 += ping.0; Ok(state) }}
async fn receive(state: State<'_>) -> Result<(Pong, State<'_>), ()> {{ Ok((Pong(*state.0), state)) }}
pub async fn a(role: &mut i32) -> Result<(), ()> {{ let s = State(role); {steps} drop(s); Ok(()) }}
pub async fn b(role: &mut i32) -> Result<(), ()> {{ let s = State(role); {steps} drop(s); Ok(()) }}
fn main() {{ let _ = (a(&mut 1), b(&mut 2)); }}
"
    )
}

const LINEAR: &str = "
use std::{marker::PhantomData, pin::Pin, task::{Context, Poll}};
pub trait Then<'s> { fn then(state: State<'s>) -> Self; }
pub struct Sending<'s, C>(Option<State<'s>>, Option<Ping>, PhantomData<fn() -> C>);
impl<'s, C: Then<'s>> Future for Sending<'s, C> {
    type Output = Result<C, ()>;
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<C, ()>> {
        let Self(state, ping, _) = self.get_mut();
        Poll::Ready(take(state, ping.take().map_or(0, |ping| ping.0)).map(|state| C::then(state)))
    }
}
pub struct Receiving<'s, C>(Option<State<'s>>, PhantomData<fn() -> C>);
impl<'s, C: Then<'s>> Future for Receiving<'s, C> {
    type Output = Result<(Pong, C), ()>;
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(Pong, C), ()>> {
        Poll::Ready(take(&mut self.get_mut().0, 0).map(|state| (Pong(*state.0), C::then(state))))
    }
}
fn take<'s>(state: &mut Option<State<'s>>, ping: i32) -> Result<State<'s>, ()> {
    state.take().ok_or(()).inspect(|state| assert!(*state.0 != ping))
}
macro_rules! state {
    ($State:ident $Then:ident) => {
        pub struct $State<'s>(State<'s>);
        impl<'s> Then<'s> for $State<'s> { fn then(state: State<'s>) -> Self { Self(state) } }
        impl<'s> $State<'s> {
            pub fn send(self, ping: Ping) -> Sending<'s, $Then<'s>> { Sending(Some(self.0), Some(ping), PhantomData) }
            pub fn receive(self) -> Receiving<'s, $Then<'s>> { Receiving(Some(self.0), PhantomData) }
        }
    };
}
";

fn linear(count: usize) -> String {
    let (steps, mut text) = (actions(count, SENDS), format!("{STATE}{LINEAR}"));
    for role in ["A", "B"] {
        let name = role.to_lowercase();
        for number in 0..=count {
            let _ = writeln!(text, "state!({role}{number} {role}{});", count.min(number + 1));
        }
        let _ = writeln!(
            text,
            "pub async fn {name}(role: &mut i32) -> Result<(), ()> {{ let s = {role}0(State(role)); {steps} drop(s); Ok(()) }}"
        );
    }
    text + "fn main() { let _ = (a(&mut 1), b(&mut 2)); }\n"
}
