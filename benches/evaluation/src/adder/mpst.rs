//! Over `mpstthree`.

#![allow(
    unreachable_pub,
    missing_docs,
    missing_debug_implementations,
    reason = "what its macros make"
)]

use std::sync::mpsc;

use mpstthree::binary::struct_trait::end::End;
use mpstthree::binary::struct_trait::recv::Recv;
use mpstthree::binary::struct_trait::send::Send;
use mpstthree::role::end::RoleEnd;

use super::Sums;
use crate::{Error, Result};

mpstthree::generate!("basic", MeshedChannels, A, B, C);

type Asks = Send<i32, Recv<i32, End>>;
type Answers = Recv<i32, Send<i32, End>>;

type EndpointA = MeshedChannels<Asks, Asks, RoleB<RoleB<RoleC<RoleC<RoleEnd>>>>, NameA>;
type EndpointB = MeshedChannels<Answers, Asks, RoleA<RoleA<RoleC<RoleC<RoleEnd>>>>, NameB>;
type EndpointC = MeshedChannels<Answers, Answers, RoleA<RoleB<RoleA<RoleB<RoleEnd>>>>, NameC>;

/// Adds two numbers, with a thread for each role.
pub(crate) fn add(first: i32, second: i32) -> Result<Sums> {
    let (output, sums) = mpsc::channel();
    let to_first = output.clone();
    let (a, b, c) = fork_mpst(
        move |s: EndpointA| {
            let (theirs, s) = s.send(first).recv();
            let (sum, s) = s.send(theirs).recv();
            to_first.send(sum)?;
            s.close()
        },
        move |s: EndpointB| {
            let (theirs, s) = s.recv();
            let (sum, s) = s.send(second).send(theirs).recv();
            output.send(sum)?;
            s.close()
        },
        move |s: EndpointC| {
            let (first, s) = s.recv();
            let (second, s) = s.recv();
            s.send(first + second).send(first + second).close()
        },
    );
    let ended = a.join().and(b.join()).and(c.join());
    ended.map_err(|_| Error::wrong("a role failed"))?;
    Ok((sums.recv().map_err(Error::wrong)?, sums.recv().map_err(Error::wrong)?))
}
