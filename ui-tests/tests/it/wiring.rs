//! Sets of roles: every route leads to its peer, whatever the order of fields and roles.

use std::future::poll_fn;

use futures::executor::block_on;
use rumpsteak::Role as _;
use rumpsteak::transport::{Incoming, Outgoing, Route};
use rumpsteak_ui_tests::fan_in;

#[rumpsteak::protocol(Wiring)]
mod wiring {
    use rumpsteak::channel::{Receiver, Sender};

    #[derive(Debug, Message, PartialEq)]
    struct Note(String, String);

    #[derive(Role)]
    struct A {
        #[route(B)]
        b: Channel<Note>,
        #[route(C)]
        c: Channel<Note>,
        #[route(D)]
        d: Sender<Note>,
    }

    // The same peers in another order, and without names.
    #[derive(Role)]
    struct B(#[route(D)] Channel<Note>, #[route(C)] Channel<Note>, #[route(A)] Channel<Note>);

    #[derive(Role)]
    struct D {
        #[route(B)]
        b: Channel<Note>,
        #[route(A)]
        a: Receiver<Note>,
    }

    #[derive(Roles)]
    struct Named {
        d: D,
        a: A,
        idle: Idle,
        c: C,
        b: B,
    }

    #[derive(Roles)]
    struct Unnamed(B, A, D, C);
}

use wiring::{A, B, C, D, Idle, Named, Note, Unnamed};

fn passes<R, P>(from: &mut R, to: &mut P)
where
    R: Route<P, Message = Note, Link: Outgoing<Note>>,
    P: Route<R, Message = Note, Link: Incoming<Note>>,
{
    let note = || Note(R::NAME.to_owned(), P::NAME.to_owned());
    block_on(async {
        poll_fn(|context| from.route().poll_ready(context)).await.unwrap();
        from.route().start_send(note()).unwrap();
        poll_fn(|context| from.route().poll_flush(context)).await.unwrap();
        assert_eq!(poll_fn(|context| to.route().poll_receive(context)).await.unwrap(), note());
    });
}

fn check(a: &mut A, b: &mut B, c: &mut C, d: &mut D) {
    passes::<A, B>(a, b);
    passes::<B, A>(b, a);
    passes::<A, C>(a, c);
    passes::<C, A>(c, a);
    passes::<B, C>(b, c);
    passes::<C, B>(c, b);
    passes::<B, D>(b, d);
    passes::<D, B>(d, b);
    passes::<A, D>(a, d);
}

#[test]
fn routes_are_wired_by_type() {
    let Named { mut d, mut a, idle: Idle, mut c, mut b } = Named::default();
    check(&mut a, &mut b, &mut c, &mut d);
    let Unnamed(mut b, mut a, mut d, mut c) = Unnamed::default();
    check(&mut a, &mut b, &mut c, &mut d);
}

#[test]
fn roles_of_a_closed_system_are_named_after_module_and_struct() {
    assert_eq!((A::PROTOCOL, A::NAME), ("Wiring", "a"));
    assert_eq!((fan_in::Left::PROTOCOL, fan_in::Left::NAME), ("fan_in", "Left"));
}
