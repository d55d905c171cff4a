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

use super::{Received, SENT};
use crate::{Error, Result};

mpstthree::generate!("basic", MeshedChannels, A, B, C);

type EndpointA = MeshedChannels<Send<i32, End>, Recv<i32, End>, RoleB<RoleC<RoleEnd>>, NameA>;
type EndpointB = MeshedChannels<Recv<i32, End>, Send<i32, End>, RoleA<RoleC<RoleEnd>>, NameB>;
type EndpointC = MeshedChannels<Send<i32, End>, Recv<i32, End>, RoleB<RoleA<RoleEnd>>, NameC>;

/// One lap, with a thread for each role.
pub(crate) fn lap() -> Result<Received> {
    let (at_a, from_a) = mpsc::channel();
    let (at_b, from_b) = mpsc::channel();
    let (at_c, from_c) = mpsc::channel();
    let (a, b, c) = fork_mpst(
        move |s: EndpointA| {
            let (value, s) = s.send(SENT.0).recv();
            at_a.send(value)?;
            s.close()
        },
        move |s: EndpointB| {
            let (value, s) = s.recv();
            at_b.send(value)?;
            s.send(SENT.1).close()
        },
        move |s: EndpointC| {
            let (value, s) = s.recv();
            at_c.send(value)?;
            s.send(SENT.2).close()
        },
    );
    let ended = a.join().and(b.join()).and(c.join());
    ended.map_err(|_| Error::wrong("a role failed"))?;
    Ok((
        from_a.recv().map_err(Error::wrong)?,
        from_b.recv().map_err(Error::wrong)?,
        from_c.recv().map_err(Error::wrong)?,
    ))
}
