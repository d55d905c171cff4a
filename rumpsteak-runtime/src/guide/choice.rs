//! Choice: one role decides, the others follow.
//!
//! A choice is an enum with `#[session]`. Each variant has a label and what follows it. The role
//! that decides has a [`Select`](crate::states::Select) and sends one of the labels; the role that
//! learns of it has a [`Branch`](crate::states::Branch), gets a variant, and matches on it.
//!
//! ```text
//! global protocol Numbers(role p, role q) {
//!   rec more {
//!     choice at p { number(i32) from p to q; continue more; }
//!     or          { stop() from p to q; sum(i32) from q to p; }
//!   }
//! }
//! ```
//!
//! ```
//! # use futures::{executor::block_on, future::try_join};
//! # use rumpsteak_runtime::{Channel, Error, Message, Result, Role, Roles, session, try_run};
//! # use rumpsteak_runtime::private::Plays;
//! # use rumpsteak_runtime::states::{Branch, End, Receive, Select, Send};
//! # #[derive(Role)] #[protocol(Numbers::p)] #[message(Label)] struct P { #[route(Q)] q: Channel<Label> }
//! # #[derive(Role)] #[protocol(Numbers::q)] #[message(Label)] struct Q { #[route(P)] p: Channel<Label> }
//! # #[derive(Roles)] struct Roles { p: P, q: Q }
//! # #[derive(Message)] enum Label { Number(Number), Stop(Stop), Sum(Sum) }
//! # struct Number(i32);
//! # struct Stop;
//! # struct Sum(i32);
//! # #[cfg(any())]
//! #[session(P)]
//! type Producer = Select<Q, More>;
//! # type Producer<'s, R = P> = Select<'s, R, Q, More<'s, R>>;
//! # impl<'s> Plays<Producer<'s>> for P {}
//!
//! #[session]
//! enum More {
//!     Number(Number, Producer),
//!     Stop(Stop, Receive<Q, Sum, End>),
//! }
//!
//! # #[cfg(any())]
//! #[session(Q)]
//! type Consumer = Branch<P, Next>;
//! # type Consumer<'s, R = Q> = Branch<'s, R, P, Next<'s, R>>;
//! # impl<'s> Plays<Consumer<'s>> for Q {}
//!
//! #[session]
//! enum Next {
//!     Number(Number, Consumer),
//!     Stop(Stop, Send<P, Sum, End>),
//! }
//!
//! async fn produce(role: &mut P, numbers: &[i32]) -> Result<i32> {
//!     try_run(role, async |mut s: Producer<'_>| {
//!         for &number in numbers {
//!             s = s.select(Number(number)).await?;
//!         }
//!         let (Sum(sum), end) = s.select(Stop).await?.receive().await?;
//!         Ok((sum, end))
//!     })
//!     .await
//! }
//!
//! async fn consume(role: &mut Q) -> Result<()> {
//!     try_run(role, async |mut s: Consumer<'_>| {
//!         let mut sum = 0;
//!         loop {
//!             s = match s.branch().await? {
//!                 Next::Number(Number(number), s) => {
//!                     sum += number;
//!                     s
//!                 }
//!                 Next::Stop(Stop, s) => return Ok(((), s.send(Sum(sum)).await?)),
//!             };
//!         }
//!     })
//!     .await
//! }
//!
//! let Roles { mut p, mut q } = Roles::default();
//! let (sum, ()) = block_on(try_join(produce(&mut p, &[1, 2, 3]), consume(&mut q)))?;
//! assert_eq!(sum, 6);
//! # Ok::<(), Error>(())
//! ```
//!
//! The type of the label decides the type of what follows: `s.select(Stop)` is a `Receive`,
//! `s.select(Number(1))` the producer again. A label that the choice does not offer does not
//! compile, nor does a `match` that forgets one.
//!
//! An alias may refer to itself through a choice, as `Producer` does here: the enum in between
//! breaks the circle, and no struct is needed.
//!
//! # Rules
//!
//! * All alternatives of one choice go to one peer. The verification refuses a choice whose other
//!   roles cannot tell what was chosen.
//! * Two alternatives have different labels. Two labels may have payloads of one type: wrap each in
//!   a struct of its own.
//! * The enum of the role that decides is never constructed; it only lists what may be selected.
//!
//! # Cost
//!
//! A branch is one `match` on the message that came, however many alternatives it has.
