//! The fields of a state are private.

use rumpsteak::{Result, try_run};
use rumpsteak_ui_tests::ping::{C, Client};

pub async fn client(role: &mut C) -> Result<()> {
    try_run(role, async |s: Client<'_>| {
        let state = s.state;
        Ok(((), rumpsteak::states::Session::from_state(state)))
    })
    .await
}

fn main() {}
