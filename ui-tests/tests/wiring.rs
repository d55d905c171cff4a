//! Sets of roles: every route ends where its type says, whatever the order of fields and roles.

#![allow(clippy::unwrap_used, reason = "tests state what must hold, also in their helpers")]

use std::future::poll_fn;

use futures::executor::block_on;
use rumpsteak_runtime::channel::{Receiver, Sender};
use rumpsteak_runtime::transport::{Incoming, Outgoing, Route};
use rumpsteak_runtime::{Channel, Message, Role, Roles};

/// A message that says who sent it to whom.
#[derive(Debug, Message, PartialEq)]
struct Note(&'static str, &'static str);

#[derive(Role)]
#[message(Note)]
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
#[message(Note)]
struct B(#[route(D)] Channel<Note>, #[route(C)] Channel<Note>, #[route(A)] Channel<Note>);

#[derive(Role)]
#[message(Note)]
struct C {
    #[route(A)]
    a: Channel<Note>,
    #[route(B)]
    b: Channel<Note>,
}

#[derive(Role)]
#[message(Note)]
struct D {
    #[route(B)]
    b: Channel<Note>,
    #[route(A)]
    a: Receiver<Note>,
}

/// Takes part in nothing.
#[derive(Role)]
#[message(Note)]
struct Idle;

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

fn passes<R, P>(from: &mut R, to: &mut P)
where
    R: Route<P, Message = Note, Link: Outgoing<Note>>,
    P: Route<R, Message = Note, Link: Incoming<Note>>,
{
    let note = || Note(R::NAME, P::NAME);
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
fn a_role_without_a_protocol_is_named_after_its_struct() {
    assert_eq!((A::PROTOCOL, A::NAME), ("", "A"));
    assert_eq!((D::PROTOCOL, D::NAME), ("", "D"));
}
