//! Listings 4, 5, 7, 8, 10, 11, 13 and 14 of COORDINATION'21 as printed, but for `#[session(A)]`
//! in the place of `#[session]`. A type that loops is a `struct` (7), and a long one is split (13).
//! Roles and labels are generated; `three_adder.rs` writes Listing 4's.

use std::convert::Infallible;

use futures::FutureExt as _;
use rumpsteak::{ErrorKind, Result, join, try_session};

#[rumpsteak::protocol(Adder)]
mod adder {
    #[session(A)]
    type AdderA = Send<B, Add, Receive<B, Add, Send<C, Add, Receive<C, Sum, End>>>>;

    #[session(B)]
    type AdderB = Receive<A, Add, Send<A, Add, Send<C, Add, Receive<C, Sum, End>>>>;

    #[session(C)]
    type AdderC = Receive<A, Add, Receive<B, Add, Send<A, Sum, Send<B, Sum, End>>>>;
}

#[test]
fn three_adder() {
    use adder::*;

    async fn adder_a(role: &mut A, x: i32) -> Result<i32> {
        try_session(role, |s: AdderA<'_, _>| async {
            let s = s.send(Add(x)).await?;
            let (Add(y), s) = s.receive().await?;
            let s = s.send(Add(y)).await?;
            let (Sum(z), s) = s.receive().await?;
            Ok((z, s))
        })
        .await
    }

    async fn adder_b(role: &mut B, x: i32) -> Result<i32> {
        try_session(role, |s: AdderB<'_, _>| async {
            let (Add(y), s) = s.receive().await?;
            let s = s.send(Add(x)).await?;
            let s = s.send(Add(y)).await?;
            let (Sum(z), s) = s.receive().await?;
            Ok((z, s))
        })
        .await
    }

    async fn adder_c(role: &mut C) -> Result<()> {
        try_session(role, |s: AdderC<'_, _>| async {
            let (Add(x), s) = s.receive().await?;
            let (Add(y), s) = s.receive().await?;
            let z = x + y;
            let s = s.send(Sum(z)).await?;
            Ok(((), s.send(Sum(z)).await?))
        })
        .await
    }

    let mut roles = Roles::default();
    let (a, b) = (adder_a(&mut roles.a, 2), adder_b(&mut roles.b, 3));
    let (a, b, c) = join((a, b, adder_c(&mut roles.c))).now_or_never().unwrap();
    assert_eq!((a.unwrap(), b.unwrap(), c.unwrap()), (5, 5, ()));
}

#[rumpsteak::protocol(RingWithChoice)]
mod ring_with_choice {
    #[session(A)]
    struct RingA(Send<B, Add, Branch<C, RingAChoice>>);

    enum RingAChoice {
        Add(Add, RingA),
        Sub(Sub, RingA),
    }

    #[session(B)]
    struct RingB(Select<C, RingBChoice>);

    enum RingBChoice {
        Add(Add, Receive<A, Add, RingB>),
        Sub(Sub, Receive<A, Add, RingB>),
    }

    #[session(C)]
    struct RingC(Branch<B, RingCChoice>);

    enum RingCChoice {
        Add(Add, Send<A, Add, RingC>),
        Sub(Sub, Send<A, Sub, RingC>),
    }
}

/// Its processes never end, unless a role leaves.
#[test]
fn ring_choice() {
    use ring_with_choice::*;

    async fn ring_a(role: &mut A, mut input: i32) -> Result<Infallible> {
        try_session(role, |mut s: RingA<'_, _>| async {
            loop {
                let x = input * 2;
                s = match s.send(Add(x)).await?.branch().await? {
                    RingAChoice::Add(Add(y), s) => {
                        input = x + y;
                        s
                    }
                    RingAChoice::Sub(Sub(y), s) => {
                        input = x - y;
                        s
                    }
                };
            }
        })
        .await
    }

    async fn ring_b(role: &mut B, mut input: i32) -> Result<Infallible> {
        try_session(role, |mut s: RingB<'_, _>| async {
            loop {
                let x = input * 2;
                s = if x > 0 {
                    let s = s.select(Add(x)).await?;
                    let (Add(y), s) = s.receive().await?;
                    input = y + x;
                    s
                } else {
                    let s = s.select(Sub(x)).await?;
                    let (Add(y), s) = s.receive().await?;
                    input = y - x;
                    s
                };
            }
        })
        .await
    }

    async fn ring_c(role: &mut C, mut input: i32) -> Result<Infallible> {
        try_session(role, |mut s: RingC<'_, _>| async {
            loop {
                let x = input * 2;
                s = match s.branch().await? {
                    RingCChoice::Add(Add(y), s) => {
                        let s = s.send(Add(x)).await?;
                        input = x + y;
                        s
                    }
                    RingCChoice::Sub(Sub(y), s) => {
                        let s = s.send(Sub(x)).await?;
                        input = x - y;
                        s
                    }
                };
            }
        })
        .await
    }

    let mut roles = Roles::default();
    let (a, b) = (ring_a(&mut roles.a, 1), ring_b(&mut roles.b, 1));
    assert!(ring_c(&mut roles.c, 1).now_or_never().is_none());
    let (a, b) = join((a, b)).now_or_never().unwrap();
    for error in [a.unwrap_err(), b.unwrap_err()] {
        assert!(matches!(error.kind(), ErrorKind::Closed { peer: "C", .. }), "{error}");
    }
}

#[rumpsteak::protocol(OneLap)]
mod one_lap {
    #[session(A)]
    type RingA = Send<B, Value, Receive<C, Value, End>>;

    #[session(B)]
    type RingB = Send<C, Value, Receive<A, Value, End>>;

    #[session(C)]
    type RingC = Send<A, Value, Receive<B, Value, End>>;
}

#[test]
fn ring() {
    use one_lap::*;

    async fn ring_a(role: &mut A, x: i32) -> Result<i32> {
        try_session(role, |s: RingA<'_, _>| async {
            let s = s.send(Value(x)).await?;
            let (Value(y), s) = s.receive().await?;
            Ok((y, s))
        })
        .await
    }

    async fn ring_b(role: &mut B, x: i32) -> Result<i32> {
        try_session(role, |s: RingB<'_, _>| async {
            let s = s.send(Value(x)).await?;
            let (Value(y), s) = s.receive().await?;
            Ok((y, s))
        })
        .await
    }

    async fn ring_c(role: &mut C, x: i32) -> Result<i32> {
        try_session(role, |s: RingC<'_, _>| async {
            let s = s.send(Value(x)).await?;
            let (Value(y), s) = s.receive().await?;
            Ok((y, s))
        })
        .await
    }

    let mut roles = Roles::default();
    let (a, b) = (ring_a(&mut roles.a, 1), ring_b(&mut roles.b, 2));
    let (a, b, c) = join((a, b, ring_c(&mut roles.c, 3))).now_or_never().unwrap();
    assert_eq!((a.unwrap(), b.unwrap(), c.unwrap()), (3, 1, 2));
}

#[rumpsteak::protocol(TwoBuffers)]
mod buffers {
    #[derive(Message)]
    enum Label {
        Ready(Ready),
        Copy(Copy),
    }

    struct Ready;
    struct Copy(i32);

    #[session(S)]
    type Source = Receive<K, Ready, Send<K, Copy, Receive<K, Ready, Send<K, Copy, End>>>>;

    #[session(K)]
    type Kernel = Send<S, Ready, Send<S, Ready, Receive<S, Copy, Receive<T, Ready, Passing>>>>;

    type Passing = Send<T, Copy, Receive<S, Copy, Receive<T, Ready, Send<T, Copy, End>>>>;

    #[session(T)]
    type Sink = Send<K, Ready, Receive<K, Copy, Send<K, Ready, Receive<K, Copy, End>>>>;
}

#[test]
fn two_buffers() {
    use buffers::*;

    async fn source(role: &mut S, x: i32, y: i32) -> Result<()> {
        try_session(role, |s: Source<'_, _>| async {
            let (Ready, s) = s.receive().await?;
            let s = s.send(Copy(x)).await?;

            let (Ready, s) = s.receive().await?;
            let s = s.send(Copy(y)).await?;

            Ok(((), s))
        })
        .await
    }

    async fn kernel(role: &mut K) -> Result<()> {
        try_session(role, |s: Kernel<'_, _>| async {
            let s = s.send(Ready).await?;
            let s = s.send(Ready).await?;

            let (Copy(x), s) = s.receive().await?;
            let (Ready, s) = s.receive().await?;
            let s = s.send(Copy(x)).await?;

            let (Copy(y), s) = s.receive().await?;
            let (Ready, s) = s.receive().await?;
            let s = s.send(Copy(y)).await?;

            Ok(((), s))
        })
        .await
    }

    async fn sink(role: &mut T) -> Result<(i32, i32)> {
        try_session(role, |s: Sink<'_, _>| async {
            let s = s.send(Ready).await?;
            let (Copy(x), s) = s.receive().await?;

            let s = s.send(Ready).await?;
            let (Copy(y), s) = s.receive().await?;

            Ok(((x, y), s))
        })
        .await
    }

    let mut roles = Roles::default();
    let (s, k) = (source(&mut roles.s, 1, 2), kernel(&mut roles.k));
    let (s, k, t) = join((s, k, sink(&mut roles.t))).now_or_never().unwrap();
    assert_eq!((s.unwrap(), k.unwrap(), t.unwrap()), ((), (), (1, 2)));
}
