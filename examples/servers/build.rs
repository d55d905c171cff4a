//! Verifies the sessions of both clients.

fn main() -> Result<(), rumpsteak_build::Report> {
    rumpsteak_build::configure()
        .protocols("../../protocols/redis_pipelining.scr")
        .protocols("../../protocols/postgres_extended_query.scr")
        .verify()?;
    Ok(())
}
