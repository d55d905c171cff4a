//! A shop: a client orders, a server prices, a ledger adds up.

use rumpsteak_net::Net;
use rumpsteak_runtime::{Message, Result, Role, session, try_run};
use serde::{Deserialize, Serialize};

#[derive(Role)]
#[protocol(Shop::c)]
#[message(Label)]
pub(crate) struct C {
    #[route(S)]
    s: Net<Label>,
    #[route(L)]
    l: Net<Label>,
}

#[derive(Role)]
#[protocol(Shop::s)]
#[message(Label)]
pub(crate) struct S {
    #[route(C)]
    c: Net<Label>,
    #[route(L)]
    l: Net<Label>,
}

#[derive(Role)]
#[protocol(Shop::l)]
#[message(Label)]
pub(crate) struct L {
    #[route(C)]
    c: Net<Label>,
    #[route(S)]
    s: Net<Label>,
}

#[derive(Message, Serialize, Deserialize)]
pub(crate) enum Label {
    Order(Order),
    Note(Note),
    Price(Price),
    Quit(Quit),
    Close(Close),
    Total(Total),
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Order(pub(crate) String);
#[derive(Serialize, Deserialize)]
pub(crate) struct Note(pub(crate) u64);
#[derive(Serialize, Deserialize)]
pub(crate) struct Price(pub(crate) u64);
#[derive(Serialize, Deserialize)]
pub(crate) struct Quit;
#[derive(Serialize, Deserialize)]
pub(crate) struct Close;
#[derive(Serialize, Deserialize)]
pub(crate) struct Total(pub(crate) u64);

#[session(C)]
pub(crate) type Client = Select<S, Ordering>;

#[session]
pub(crate) enum Ordering {
    Order(Order, Receive<S, Price, Select<S, Ordering>>),
    Quit(Quit, Receive<L, Total, End>),
}

#[session(S)]
pub(crate) type Server = Branch<C, Serving>;

#[session]
pub(crate) enum Serving {
    Order(Order, Send<L, Note, Send<C, Price, Branch<C, Serving>>>),
    Quit(Quit, Send<L, Close, End>),
}

#[session(L)]
pub(crate) type Ledger = Branch<S, Booking>;

#[session]
pub(crate) enum Booking {
    Note(Note, Branch<S, Booking>),
    Close(Close, Send<C, Total, End>),
}

/// Orders so many things; the sum of the prices, and the total of the ledger.
pub(crate) async fn client(role: &mut C, many: u64) -> Result<(u64, u64)> {
    try_run(role, async |mut session: Client<'_>| {
        let mut sum = 0;
        for number in 0..many {
            let ordered = session.select(Order("x".repeat(number as usize % 50))).await?;
            let (Price(price), next) = ordered.receive().await?;
            sum += price;
            session = next;
        }
        let (Total(total), end) = session.select(Quit).await?.receive().await?;
        Ok(((sum, total), end))
    })
    .await
}

/// A thing costs as much as its name is long.
pub(crate) async fn server(role: &mut S) -> Result<()> {
    try_run(role, async |mut session: Server<'_>| {
        loop {
            match session.branch().await? {
                Serving::Order(Order(name), next) => {
                    let price = name.len() as u64;
                    session = next.send(Note(price)).await?.send(Price(price)).await?;
                }
                Serving::Quit(Quit, next) => return Ok(((), next.send(Close).await?)),
            }
        }
    })
    .await
}

pub(crate) async fn ledger(role: &mut L) -> Result<()> {
    try_run(role, async |mut session: Ledger<'_>| {
        let mut total = 0;
        loop {
            match session.branch().await? {
                Booking::Note(Note(price), next) => {
                    total += price;
                    session = next;
                }
                Booking::Close(Close, next) => return Ok(((), next.send(Total(total)).await?)),
            }
        }
    })
    .await
}

/// The sum and the total after so many orders.
pub(crate) fn expected(many: u64) -> (u64, u64) {
    let sum = (0..many).map(|number| number % 50).sum();
    (sum, sum)
}
