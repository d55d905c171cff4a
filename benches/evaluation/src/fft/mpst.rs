//! Over `mpstthree`.

#![allow(
    unreachable_pub,
    missing_docs,
    missing_debug_implementations,
    clippy::too_many_arguments,
    clippy::type_complexity,
    reason = "what its macros make"
)]

use std::sync::mpsc::{self, Sender};

use mpstthree::binary::struct_trait::end::End;
use mpstthree::binary::struct_trait::recv::Recv;
use mpstthree::binary::struct_trait::send::Send;
use mpstthree::role::end::RoleEnd;
use rumpsteak_examples::fft::{Matrix, Row};

use super::butterfly::{butterfly, factor};
use crate::{Error, Result};

mpstthree::generate!("basic", MeshedChannels, A, B, C, D, E, F, G, H);

type Ask = Send<Row, Recv<Row, End>>;
type Answer = Recv<Row, Send<Row, End>>;

/// The error of a process.
type Outcome = std::result::Result<(), Box<dyn std::error::Error>>;

/// The numbers and rows of the processes that have ended.
type Output = Sender<(usize, Row)>;

/// A process: its sessions with all others, its peer in each stage, and its number.
macro_rules! process {
    ($name:ident($($session:ident),*), $own:ident $number:literal, $first:ident $p1:ident, $second:ident $p2:ident, $third:ident $p3:ident) => {
        fn $name(
            s: MeshedChannels<$($session,)* $p1<$p1<$p2<$p2<$p3<$p3<RoleEnd>>>>>>, $own>,
            row: Row,
            output: &Output,
        ) -> Outcome {
            let (row, s) = process!(@$first s, row, factor($number, 0));
            let (row, s) = process!(@$second s, row, factor($number, 1));
            let (row, s) = process!(@$third s, row, factor($number, 2));
            output.send(($number, row))?;
            s.close()
        }
    };
    (@Ask $session:ident, $row:ident, $factor:expr) => {
        $session.send($row).recv()
    };
    (@Answer $session:ident, $row:ident, $factor:expr) => {{
        let (mut asked, session) = $session.recv();
        let mut row: Row = $row;
        butterfly(&mut asked, &mut row, $factor);
        (row, session.send(asked))
    }};
}

process!(process0(Ask, Ask, End, Ask, End, End, End), NameA 0, Ask RoleB, Ask RoleC, Ask RoleE);
process!(process1(Answer, End, Ask, End, Ask, End, End), NameB 1, Answer RoleA, Ask RoleD, Ask RoleF);
process!(process2(Answer, End, Ask, End, End, Ask, End), NameC 2, Ask RoleD, Answer RoleA, Ask RoleG);
process!(process3(End, Answer, Answer, End, End, End, Ask), NameD 3, Answer RoleC, Answer RoleB, Ask RoleH);
process!(process4(Answer, End, End, End, Ask, Ask, End), NameE 4, Ask RoleF, Ask RoleG, Answer RoleA);
process!(process5(End, Answer, End, End, Answer, End, Ask), NameF 5, Answer RoleE, Ask RoleH, Answer RoleB);
process!(process6(End, End, Answer, End, Answer, End, Ask), NameG 6, Ask RoleH, Answer RoleE, Answer RoleC);
process!(process7(End, End, End, Answer, End, Answer, Answer), NameH 7, Answer RoleG, Answer RoleF, Answer RoleD);

/// Transforms rows in bit reversed order, with a thread for each process.
pub(super) fn run(rows: Matrix) -> Result<Matrix> {
    let (output, results) = mpsc::channel();
    let [o0, o1, o2, o3, o4, o5, o6] = std::array::from_fn(|_| output.clone());
    let [x0, x1, x2, x3, x4, x5, x6, x7] = rows;
    let (a, b, c, d, e, f, g, h) = fork_mpst(
        move |s| process0(s, x0, &o0),
        move |s| process1(s, x1, &o1),
        move |s| process2(s, x2, &o2),
        move |s| process3(s, x3, &o3),
        move |s| process4(s, x4, &o4),
        move |s| process5(s, x5, &o5),
        move |s| process6(s, x6, &o6),
        move |s| process7(s, x7, &output),
    );
    for thread in [a, b, c, d, e, f, g, h] {
        thread.join().map_err(|_| Error::wrong("a role failed"))?;
    }
    let mut rows = Matrix::default();
    for (number, row) in results {
        rows[number] = row;
    }
    Ok(rows)
}
