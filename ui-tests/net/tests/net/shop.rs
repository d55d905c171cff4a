//! A shop: a client orders, a server prices, a ledger adds up.

use rumpsteak::{Result, try_run};

#[rumpsteak::protocol(
    Shop,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
pub(crate) mod shop {}

pub(crate) use shop::*;

pub(crate) mod carried {
    /// Named as its label is, which serde sees, too.
    #[derive(Debug, serde::Serialize, serde::Deserialize)]
    pub(crate) struct Note(pub(crate) u64);
}

/// Orders so many things; the sum of the prices, and the total of the ledger.
pub(crate) async fn client(role: &mut C, many: u64) -> Result<(u64, u64)> {
    try_run(role, async |mut session: CSession<'_>| {
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

/// Orders one thing, and is done.
pub(crate) async fn order(role: &mut C, name: String) -> Result<(u64, u64)> {
    try_run(role, async |session: CSession<'_>| {
        let (Price(price), next) = session.select(Order(name)).await?.receive().await?;
        let (Total(total), end) = next.select(Quit).await?.receive().await?;
        Ok(((price, total), end))
    })
    .await
}

/// A thing costs as much as its name is long.
pub(crate) async fn server(role: &mut S) -> Result<()> {
    try_run(role, async |mut session: SSession<'_>| {
        loop {
            match session.branch().await? {
                SOrderChoice::Order(Order(name), next) => {
                    let price = name.len() as u64;
                    session =
                        next.send(Note(carried::Note(price))).await?.send(Price(price)).await?;
                }
                SOrderChoice::Quit(Quit, next) => return Ok(((), next.send(Close).await?)),
            }
        }
    })
    .await
}

pub(crate) async fn ledger(role: &mut L) -> Result<()> {
    try_run(role, async |mut session: LSession<'_>| {
        let mut total = 0;
        loop {
            match session.branch().await? {
                LNoteChoice::Note(Note(carried::Note(price)), next) => {
                    total += price;
                    session = next;
                }
                LNoteChoice::Close(Close, next) => {
                    return Ok(((), next.send(Total(total)).await?));
                }
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
