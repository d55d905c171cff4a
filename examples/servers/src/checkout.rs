//! A session that lives between two HTTP requests: a customer orders in one, and pays in another.
//!
//! Between them the session is a value in a map. Its type says what is left to do: to pay. If the
//! customer never returns, dropping the session wakes the till.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::post;
use rumpsteak::{Ended, Error, Held, Result, hold, try_run};

#[rumpsteak::protocol(Checkout)]
mod protocol {
    #[session(Page)]
    type Ordering = Send<Till, Order, Receive<Till, Price, Paying>>;

    /// The part of the session after the first request.
    type Paying = Send<Till, Pay, Receive<Till, Change, End>>;
}
use self::protocol::*;

/// The sessions of the customers that have ordered and not paid, shared by all requests.
#[derive(Clone, Default)]
struct Orders(Arc<Mutex<HashMap<u64, Paying<'static, Held<Page>>>>>);

impl Orders {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Paying<'static, Held<Page>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `POST /order/CUSTOMER/GOODS` answers with the price, and `POST /pay/CUSTOMER/MONEY` with the
/// change.
pub fn shop() -> Router {
    Router::new()
        .route("/order/{customer}/{goods}", post(order))
        .route("/pay/{customer}/{money}", post(pay))
        .with_state(Orders::default())
}

/// Begins a session, and leaves it in the map. A second order takes the place of the first one,
/// which is dropped.
async fn order(
    State(orders): State<Orders>,
    Path((customer, goods)): Path<(u64, u64)>,
) -> Result<String, (StatusCode, String)> {
    let Roles { page, mut till } = Roles::default();
    tokio::spawn(async move { try_run(&mut till, sell).await });
    let session: Ordering<'static, Held<Page>> = hold(page).await.map_err(failed)?;
    let session = session.send(Order(goods)).await.map_err(failed)?;
    let (Price(price), paying) = session.receive().await.map_err(failed)?;
    orders.lock().insert(customer, paying);
    Ok(price.to_string())
}

/// Takes the session from the map, and ends it.
async fn pay(
    State(orders): State<Orders>,
    Path((customer, money)): Path<(u64, u64)>,
) -> Result<String, (StatusCode, String)> {
    // The lock is released before the first `await`.
    let paying = orders.lock().remove(&customer);
    let paying = paying.ok_or((StatusCode::NOT_FOUND, "nothing was ordered".to_owned()))?;
    let session = paying.send(Pay(money)).await.map_err(failed)?;
    let (Change(change), end) = session.receive().await.map_err(failed)?;
    drop(end);
    Ok(change.to_string())
}

fn failed(error: Error) -> (StatusCode, String) {
    (StatusCode::CONFLICT, error.to_string())
}

/// The till's side of one session: a piece costs 3.
async fn sell(session: TillSession<'_>) -> Ended<'_, Till> {
    let (Order(goods), session) = session.receive().await?;
    let price = 3 * goods;
    let (Pay(money), session) = session.send(Price(price)).await?.receive().await?;
    let change = money.checked_sub(price).ok_or_else(|| Error::other("that is not enough"))?;
    session.send(Change(change)).await?.end(())
}
