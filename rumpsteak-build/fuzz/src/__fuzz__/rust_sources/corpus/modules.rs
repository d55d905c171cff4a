#![cfg_attr(feature = "a", allow(dead_code))]
#[rumpsteak::protocol(P, fair(s), limits(steps = 3), crate = "rt", derive(Clone))] mod p { #![allow(x)] }
#[cfg(all(unix, not(feature = "b")))] mod r#type { #[protocol(P, routes = a::Net)] pub(crate) mod q { use super::*; } }
macro_rules! m { ($($x:tt)*) => { #[rumpsteak::closed_system] mod hidden { $($x)* } } } m! { mod hidden; }
#[rumpsteak::closed_system(derive(Debug))]
mod system {
    #[derive(Roles)] struct Set { one: One, other: Other }
    #[derive(Role)] #[message(L)] struct One(#[route(Other)] Channel<L>);
    #[session(One)] type A = Send<Other, Ping, Branch<Other, B>>; #[session(Other)] type C = Receive<One, Ping, Select<One, B>>;
    enum B { Pong(Pong, End), #[doc = "x"] Stop(Receive<One, Ping, Self>) } struct Ping; struct Pong { n: u8 }
}
const C: &str = r##"raw "# string"##; const D: u8 = b'\''; fn f<'a>(x: &'a str) -> char { '\u{1F600}' }
/* a /* nested */ comment */ /// doc
mod last { }
