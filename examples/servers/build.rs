//! Verifies the sessions of both clients.

fn main() -> Result<(), rumpsteak_build::Report> {
    rumpsteak_build::configure()
        .protocols("../../protocols/redis_pipelining.scr")
        .protocols("../../protocols/postgres_extended_query.scr")
        // A client that goes on sending need never read what it is answered.
        .liveness("RedisPipelining::client", rumpsteak_build::Liveness::Fair)
        .liveness("PostgresExtendedQuery::frontend", rumpsteak_build::Liveness::Fair)
        .verify()?;
    Ok(())
}
