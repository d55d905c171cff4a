//! The room of queues: from the sessions as they are written, through the verdict, to the channels.

use super::programs::printed;

pub(super) const PROTOCOLS: &str = "\
global protocol Two(role a, role b) { x() from a to b; y() from a to b; }
global protocol Answered(role a, role b) { x() from a to b; y() from b to a; }
global protocol Endless(role a, role b) { rec loop { x() from a to b; continue loop; } }
global protocol Twenty(role a, role b) {
  x() from a to b; x() from a to b; x() from a to b; x() from a to b; x() from a to b;
  x() from a to b; x() from a to b; x() from a to b; x() from a to b; x() from a to b;
  x() from a to b; x() from a to b; x() from a to b; x() from a to b; x() from a to b;
  x() from a to b; x() from a to b; x() from a to b; x() from a to b; x() from a to b;
}
";

pub(super) const PROGRAM: &str = "\
use rumpsteak::{closed_system, protocol};

#[protocol(DoubleBuffering)]
mod plain {}

#[protocol(DoubleBuffering)]
mod optimised {
    #[session(K)]
    type Kernel = Send<S, Ready, Loop>;
    struct Loop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);
}

#[protocol(DoubleBuffering)]
mod ahead {
    #[session(K)]
    type Kernel = Send<S, Ready, Send<S, Ready, Loop>>;
    struct Loop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);
}

#[closed_system]
mod closed {
    #[session(K)]
    type Kernel = Send<S, Ready, Loop>;
    struct Loop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);
    #[session(S)]
    struct Source(Receive<K, Ready, Send<K, Value, Self>>);
    #[session(T)]
    struct Sink(Send<K, Ready, Receive<K, Value, Self>>);
    struct Ready;
    struct Value(i32);
}

// The role has two sessions, and its peers do not know which one it plays.
#[protocol(DoubleBuffering)]
mod differ {
    #[session(K)]
    type Kernel = Send<S, Ready, Loop>;
    struct Loop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);
    #[session(K)]
    struct Plain(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);
}

// Subtyping compares actions, and needs no configurations.
#[protocol(DoubleBuffering, limits(configurations = 2))]
mod limited {
    #[session(K)]
    type Kernel = Send<S, Ready, Loop>;
    struct Loop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);
}

#[protocol(Two)]
mod two {}
#[protocol(Answered)]
mod answered {}
#[protocol(Endless)]
mod endless {}
#[protocol(Twenty)]
mod twenty {}

macro_rules! show {
    ($module:ident: $($role:ident.$peer:ident),*) => {
        print!(\"{}:\", stringify!($module));
        $(
            let roles = $module::Roles::default();
            let queue = roles.$role.$peer.into_inner().unwrap().0.queue();
            print!(\" {} {} {:?},\", queue.from, queue.to, queue.capacity);
        )*
        println!();
    };
}

macro_rules! show_all {
    ($($module:ident),*) => { $(show!($module: k.s, s.k, k.t, t.k);)* };
}

fn main() {
    show_all!(plain, optimised, ahead, closed, differ, limited);
    show!(two: a.b, b.a);
    show!(answered: a.b, b.a);
    show!(endless: a.b, b.a);
    show!(twenty: a.b, b.a);
}
";

#[test]
fn the_channels_have_the_room_that_was_proven() {
    let expected = "\
plain: k s AtMost(4), s k AtMost(4), k t AtMost(4), t k AtMost(4),
optimised: k s AtMost(4), s k AtMost(4), k t AtMost(4), t k AtMost(4),
ahead: k s AtMost(4), s k AtMost(4), k t AtMost(4), t k AtMost(4),
closed: K S AtMost(4), S K AtMost(4), K T AtMost(4), T K AtMost(4),
differ: k s Growable, s k Growable, k t Growable, t k Growable,
limited: k s Growable, s k Growable, k t Growable, t k Growable,
two: a b AtMost(4), b a AtMost(0),
answered: a b AtMost(4), b a AtMost(4),
endless: a b Waits(16), b a AtMost(0),
twenty: a b AtMost(20), b a AtMost(0),
";
    assert_eq!(printed("capacities"), expected);
}
