//! Verifies the sessions of both clients, and of the HTTP server.

fn main() -> Result<(), rumpsteak_build::Report> {
    rumpsteak_build::configure()
        .protocols("checkout.scr")
        .protocols("../../protocols/redis_pipelining.scr")
        .protocols("../../protocols/postgres_extended_query.scr")
        .verify()?;
    Ok(())
}
