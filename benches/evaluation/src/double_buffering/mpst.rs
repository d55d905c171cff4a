//! Over `mpstthree`. The kernel may ask for the second buffer when it has the first, but not
//! before: the session of each pair of roles has to keep its order.

#![allow(
    unreachable_pub,
    missing_docs,
    missing_debug_implementations,
    reason = "what its macros make"
)]

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use mpstthree::binary::struct_trait::end::End;
use mpstthree::binary::struct_trait::recv::Recv;
use mpstthree::binary::struct_trait::send::Send;
use mpstthree::role::end::RoleEnd;

use crate::{Error, Result};

mpstthree::generate!("basic", MeshedChannels, K, S, T);

struct Ready;

type Buffer = Vec<i32>;
type Asks = Send<Ready, Recv<Buffer, Send<Ready, Recv<Buffer, End>>>>;
type Answers = Recv<Ready, Send<Buffer, Recv<Ready, Send<Buffer, End>>>>;

type Half<C> = RoleS<RoleS<RoleT<RoleT<C>>>>;
type Kernel = MeshedChannels<Asks, Answers, Half<Half<RoleEnd>>, NameK>;
type Weak = RoleS<RoleS<RoleS<RoleT<RoleT<RoleS<RoleT<RoleT<RoleEnd>>>>>>>>;
type WeakKernel = MeshedChannels<Asks, Answers, Weak, NameK>;
type Source = MeshedChannels<Answers, End, RoleK<RoleK<RoleK<RoleK<RoleEnd>>>>, NameS>;
type Sink = MeshedChannels<Asks, End, RoleK<RoleK<RoleK<RoleK<RoleEnd>>>>, NameT>;

/// The error of a role.
type Outcome = std::result::Result<(), Box<dyn std::error::Error>>;

/// Passes copies of both halves on, with a thread for each role, and returns what the sink
/// received.
pub(crate) fn run(
    values: &Arc<[i32]>,
    is_weak: bool,
    delay: Option<Duration>,
) -> Result<Vec<Vec<i32>>> {
    let values = values.clone();
    let (output, received) = mpsc::channel();
    let source = move |s: Source| {
        let half = values.len() / 2;
        let (Ready, s) = s.recv();
        wait(delay);
        let (Ready, s) = s.send(values[..half].to_vec()).recv();
        wait(delay);
        s.send(values[half..].to_vec()).close()
    };
    let sink = move |s: Sink| {
        let (first, s) = s.send(Ready).recv();
        let (second, s) = s.send(Ready).recv();
        output.send(vec![first, second])?;
        s.close()
    };
    let (k, s, t) = if is_weak {
        fork_mpst(move |k| weak_kernel(k, delay), source, sink)
    } else {
        fork_mpst(move |k| kernel(k, delay), source, sink)
    };
    let ended = k.join().and(s.join()).and(t.join());
    ended.map_err(|_| Error::wrong("a role failed"))?;
    received.recv().map_err(Error::wrong)
}

fn kernel(k: Kernel, delay: Option<Duration>) -> Outcome {
    let (buffer, k) = k.send(Ready).recv();
    wait(delay);
    let (Ready, k) = k.recv();
    let (buffer, k) = k.send(buffer).send(Ready).recv();
    wait(delay);
    let (Ready, k) = k.recv();
    k.send(buffer).close()
}

fn weak_kernel(k: WeakKernel, delay: Option<Duration>) -> Outcome {
    let (buffer, k) = k.send(Ready).recv();
    wait(delay);
    let (Ready, k) = k.send(Ready).recv();
    let (buffer, k) = k.send(buffer).recv();
    wait(delay);
    let (Ready, k) = k.recv();
    k.send(buffer).close()
}

fn wait(delay: Option<Duration>) {
    if let Some(delay) = delay {
        thread::sleep(delay);
    }
}
