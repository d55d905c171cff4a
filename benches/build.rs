//! Verifies the sessions of the benchmarks against the protocols that they use.

fn main() -> Result<(), rumpsteak_build::Report> {
    rumpsteak_build::configure()
        .protocols("../protocols/ring.scr")
        .protocols("../protocols/streaming.scr")
        .protocols("protocols")
        .verify()?;
    Ok(())
}
