//! Over `rumpsteak` 0.1.

use rumpsteak::role::{Nil, Role, Roles, ToFrom};
use rumpsteak::{End, Label, Receive, Send, try_session};
use rumpsteak_examples::fft::{Matrix, Row};

use super::butterfly::{butterfly, factor};
use super::finished::finished;
use crate::{Error, Result};

#[derive(Label)]
enum Message {
    Column(Column),
}

struct Column(Row);

#[derive(Roles)]
struct Roles8(P0, P1, P2, P3, P4, P5, P6, P7);

/// A role with its routes to all others. It uses three of them.
macro_rules! role {
    ($name:ident: $($peer:ident $route:ident),*) => {
        #[derive(Role)]
        #[message(Message)]
        struct $name($(#[route($peer)] $route<$peer>),*);
    };
}

role!(P0: P1 ToFrom, P2 ToFrom, P3 Nil, P4 ToFrom, P5 Nil, P6 Nil, P7 Nil);
role!(P1: P0 ToFrom, P2 Nil, P3 ToFrom, P4 Nil, P5 ToFrom, P6 Nil, P7 Nil);
role!(P2: P0 ToFrom, P1 Nil, P3 ToFrom, P4 Nil, P5 Nil, P6 ToFrom, P7 Nil);
role!(P3: P0 Nil, P1 ToFrom, P2 ToFrom, P4 Nil, P5 Nil, P6 Nil, P7 ToFrom);
role!(P4: P0 ToFrom, P1 Nil, P2 Nil, P3 Nil, P5 ToFrom, P6 ToFrom, P7 Nil);
role!(P5: P0 Nil, P1 ToFrom, P2 Nil, P3 Nil, P4 ToFrom, P6 Nil, P7 ToFrom);
role!(P6: P0 Nil, P1 Nil, P2 ToFrom, P3 Nil, P4 ToFrom, P5 Nil, P7 ToFrom);
role!(P7: P0 Nil, P1 Nil, P2 Nil, P3 ToFrom, P4 Nil, P5 ToFrom, P6 ToFrom);

type Ask<'s, R, P, C> = Send<'s, R, P, Column, Receive<'s, R, P, Column, C>>;
type Answer<'s, R, P, C> = Receive<'s, R, P, Column, Send<'s, R, P, Column, C>>;

/// A process, with its peer in each stage.
macro_rules! process {
    ($name:ident: $role:ident $number:literal, $first:ident $p1:ident, $second:ident $p2:ident, $third:ident $p3:ident) => {
        async fn $name(mut role: $role, row: Row) -> Result<Row> {
            type Session<'s> = $first<'s, $role, $p1, $second<'s, $role, $p2, $third<'s, $role, $p3, End<'s>>>>;
            let done: rumpsteak::Result<Row> = try_session(&mut role, |s: Session<'_>| async {
                let (row, s) = process!(@$first s, row, factor($number, 0));
                let (row, s) = process!(@$second s, row, factor($number, 1));
                let (row, s) = process!(@$third s, row, factor($number, 2));
                Ok((row, s))
            })
            .await;
            done.map_err(Error::wrong)
        }
    };
    (@Ask $session:ident, $row:ident, $factor:expr) => {{
        let (Column(row), session) = $session.send(Column($row))?.receive().await?;
        (row, session)
    }};
    (@Answer $session:ident, $row:ident, $factor:expr) => {{
        let (Column(mut asked), session) = $session.receive().await?;
        let mut row: Row = $row;
        butterfly(&mut asked, &mut row, $factor);
        (row, session.send(Column(asked))?)
    }};
}

process!(process0: P0 0, Ask P1, Ask P2, Ask P4);
process!(process1: P1 1, Answer P0, Ask P3, Ask P5);
process!(process2: P2 2, Ask P3, Answer P0, Ask P6);
process!(process3: P3 3, Answer P2, Answer P1, Ask P7);
process!(process4: P4 4, Ask P5, Ask P6, Answer P0);
process!(process5: P5 5, Answer P4, Ask P7, Answer P1);
process!(process6: P6 6, Ask P7, Answer P4, Answer P2);
process!(process7: P7 7, Answer P6, Answer P5, Answer P3);

/// Transforms rows in bit reversed order, with a task for each process.
pub(super) async fn run(rows: Matrix) -> Result<Matrix> {
    let Roles8(p0, p1, p2, p3, p4, p5, p6, p7) = Roles8::default();
    let [x0, x1, x2, x3, x4, x5, x6, x7] = rows;
    finished([
        tokio::spawn(process0(p0, x0)),
        tokio::spawn(process1(p1, x1)),
        tokio::spawn(process2(p2, x2)),
        tokio::spawn(process3(p3, x3)),
        tokio::spawn(process4(p4, x4)),
        tokio::spawn(process5(p5, x5)),
        tokio::spawn(process6(p6, x6)),
        tokio::spawn(process7(p7, x7)),
    ])
    .await
}
