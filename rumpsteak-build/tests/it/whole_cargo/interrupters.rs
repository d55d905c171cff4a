//! A block that two roles may interrupt: the client cancels while the server works, and the server
//! gives up. Generated and run in every order, and written by hand. And roles that are ahead of
//! others, who listen to them for an interrupt.

use super::programs::{printed, programs};
use crate::support::{check_files, only, says};

pub(super) const WATCHED: &str = "global protocol Watched(role c, role s) {
  interruptible {
    question(i32) from c to s;
    answer(i32) from s to c;
    thanks() from c to s;
  } with { cancel() by c; timeout() by s; }
}
";

pub(super) const AHEAD: &str = "global protocol Ahead(role c, role r, role p) {
  interruptible {
    x() from p to r;
    y() from c to r;
    done() from c to p, r;
  } with { cancel() by c; }
}
";

/// Both sides return who has interrupted.
pub(super) const GENERATED: &str = r#"
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::future::{pending, poll_fn, ready};
use std::rc::Rc;
use std::task::Poll;

use rumpsteak::states::{Raced, Until};
use rumpsteak::{Error, Result, testing, try_run};

#[rumpsteak::protocol(Watched)]
mod watched {}
#[rumpsteak::protocol(Ahead)]
mod ahead {}
use watched::*;

type Outcome = &'static str;

async fn pause() {
    let mut is_over = false;
    poll_fn(|context| {
        context.waker().wake_by_ref();
        if std::mem::replace(&mut is_over, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

async fn client(role: &mut C, is_patient: bool) -> Result<Outcome> {
    try_run(role, async |s: CSession<'_>| {
        let s = match s.race(ready(Question(20))).await? {
            Raced::Sent(s) => s,
            Raced::Heard(CQuestionChoice::Timeout(Timeout, s)) => {
                return Ok(("server", s.send(Timeout).await?));
            }
        };
        let patience = async {
            if is_patient {
                pending::<()>().await;
            }
            pause().await;
            Cancel
        };
        let mut s = match s.race(patience).await? {
            Raced::Sent(s) => s,
            Raced::Heard(CAnswerChoice::Answer(Answer(21), s)) => {
                return Ok(("nobody", s.select(Thanks).await?));
            }
            Raced::Heard(CAnswerChoice::Answer(_, _)) => panic!("another answer"),
            Raced::Heard(CAnswerChoice::Timeout(Timeout, s)) => {
                return Ok(("server", s.send(Timeout).await?));
            }
        };
        loop {
            s = match s.branch().await? {
                CAnswerChoiceAfterCancel::Answer(Answer(_), s) => s,
                CAnswerChoiceAfterCancel::Cancel(Cancel, end) => return Ok(("client", end)),
                CAnswerChoiceAfterCancel::Timeout(Timeout, end) => return Ok(("both", end)),
            };
        }
    })
    .await
}

/// `work` is what it comes to, if it does before the time is over; it never is where `is_patient`.
async fn server(role: &mut S, work: Option<i32>, is_patient: bool) -> Result<Outcome> {
    try_run(role, async |s: SSession<'_>| {
        let s = match s.race(pending::<Timeout>()).await? {
            Raced::Heard(SQuestionChoice::Question(Question(_), s)) => s,
            Raced::Heard(SQuestionChoice::Cancel(Cancel, s)) => {
                return Ok(("client", s.send(Cancel).await?));
            }
            Raced::Sent(_) => panic!("the time is over too soon"),
        };
        let wish = async {
            if work.is_none() && is_patient {
                pending::<()>().await;
            }
            work
        };
        let mut s = match s.until(wish).await? {
            Until::Wished(Some(answer), s) => {
                return Ok(match s.select(Answer(answer)).await?.branch().await? {
                    SThanksChoice::Thanks(Thanks, end) => ("nobody", end),
                    SThanksChoice::Cancel(Cancel, s) => ("client", s.send(Cancel).await?),
                });
            }
            Until::Wished(None, s) => {
                pause().await;
                s.select(Timeout).await?
            }
            Until::Heard(SAnswerChoice::Cancel(Cancel, s)) => {
                return Ok(("client", s.send(Cancel).await?));
            }
        };
        loop {
            s = match s.branch().await? {
                SQuestionChoiceAfterTimeout::Question(_, s) => s,
                SQuestionChoiceAfterTimeout::Thanks(_, s) => s,
                SQuestionChoiceAfterTimeout::Timeout(Timeout, end) => return Ok(("server", end)),
                SQuestionChoiceAfterTimeout::Cancel(Cancel, end) => return Ok(("both", end)),
            };
        }
    })
    .await
}

fn outcomes(client_is_patient: bool, work: Option<i32>, server_is_patient: bool) -> BTreeSet<Outcome> {
    let all = Rc::new(RefCell::new(BTreeSet::new()));
    let explored = testing::explore(|processes| {
        let Roles { mut c, mut s } = Roles::default();
        let said = Rc::new(RefCell::new(None));
        let agree = {
            let all = all.clone();
            move |outcome: Outcome| {
                let before = said.replace(Some(outcome));
                assert!(before.is_none_or(|before| before == outcome), "{before:?} and {outcome}");
                all.borrow_mut().insert(outcome);
            }
        };
        let too = agree.clone();
        processes.add("c", async move { client(&mut c, client_is_patient).await.map(agree) });
        processes.add("s", async move {
            server(&mut s, work, server_is_patient).await.map(too)
        });
    });
    assert!(explored.is_complete);
    all.take()
}

/// No role interrupts, and `c` is done before the others begin. What it has sent to `r` and `p`
/// waits until they want it.
fn is_ahead() -> usize {
    use ahead::*;
    let explored = testing::explore(|processes| {
        let Roles { mut c, mut r, mut p } = Roles::default();
        processes.add("c", async move {
            try_run(&mut c, async |s: CSession<'_>| {
                let s = s.select(Y).await?.select(Done).await?;
                Ok::<_, Error>(((), s.send(Done).await?))
            })
            .await
        });
        processes.add("r", async move {
            try_run(&mut r, async |s: RSession<'_>| {
                let RXChoice::X(X, s) = s.branch().await? else { panic!("no interrupt") };
                let RYChoice::Y(Y, s) = s.branch().await? else { panic!("no interrupt") };
                let RDoneChoice::Done(Done, end) = s.branch().await? else { panic!("none") };
                Ok::<_, Error>(((), end))
            })
            .await
        });
        processes.add("p", async move {
            try_run(&mut p, async |s: PSession<'_>| {
                let work = async {
                    pause().await;
                    X
                };
                let Raced::Sent(s) = s.race(work).await? else { panic!("no interrupt") };
                let PDoneChoice::Done(Done, end) = s.branch().await? else { panic!("none") };
                Ok::<_, Error>(((), end))
            })
            .await
        });
    });
    assert!(explored.is_complete);
    explored.interleavings
}

fn main() {
    assert!(is_ahead() > 3);
    println!("none {:?}", outcomes(true, Some(21), true));
    println!("client {:?}", outcomes(false, None, true));
    println!("server {:?}", outcomes(true, None, false));
    println!("both {:?}", outcomes(false, None, false));
    println!("late {:?}", outcomes(false, Some(21), true));
}
"#;

#[test]
fn interrupts_cross_and_both_sides_learn_of_the_same() {
    let expected = "none {\"nobody\"}\nclient {\"client\"}\nserver {\"server\"}\n\
                    both {\"both\", \"client\", \"server\"}\nlate {\"client\", \"nobody\"}\n";
    assert_eq!(printed("interrupters"), expected);
}

pub(super) const BY_HAND: &str = "\
#[rumpsteak::protocol(Watched)]
mod watched {
    #[session(C)] type Client = Race<Begin>;
    enum Begin {
        Question(Send<S, Question, Race<Patience>>),
        Cancel(Send<S, Cancel, Drain>),
        Timeout(Receive<S, Timeout, Send<S, Timeout, End>>),
    }
    enum Patience {
        Answer(Receive<S, Answer, Select<S, After>>),
        Cancel(Send<S, Cancel, Drain>),
        Timeout(Receive<S, Timeout, Send<S, Timeout, End>>),
    }
    enum After { Thanks(Thanks, End), Cancel(Cancel, Drain) }
    type Drain = Branch<S, Drained>;
    enum Drained { Answer(Answer, Drain), Cancel(Cancel, End), Timeout(Timeout, End) }
}
";

#[test]
fn by_hand_it_passes_and_what_is_unsafe_is_refused_at_its_token() {
    programs().check(&["--example", "interrupters_by_hand"]).passes();
    for (from, to, token, text) in [
        // Its own interrupt need not come back: the other interrupt may have crossed it.
        (
            "Cancel(Cancel, End), Timeout(Timeout, End) }",
            "Cancel(Cancel, End) }",
            "Branch",
            "timeout",
        ),
        // Who gives way says so.
        (
            "Drain>),\n        Timeout(Receive<S, Timeout, Send<S, Timeout, End>>),\n    }\n    enum After",
            "Drain>),\n        Timeout(Receive<S, Timeout, End>),\n    }\n    enum After",
            "End",
            "s waits for",
        ),
        // Every role receives an interrupt.
        (
            "type Client = Race<Begin>",
            "type Client = Send<S, Question, Receive<S, Answer, Send<S, Thanks, End>>>",
            "Receive",
            "timeout",
        ),
    ] {
        assert_eq!(BY_HAND.matches(from).count(), 1, "{from}");
        let source = BY_HAND.replace(from, to);
        let files = [("protocols/watched.scr", WATCHED), ("src/lib.rs", &source)];
        let check = check_files("interrupters", &files);
        let problem = only(&check);
        assert_eq!(&source[problem.range.clone()], token, "{}", problem.text);
        says(&problem.text, "the shortest run that");
        says(&problem.text, text);
    }
}
