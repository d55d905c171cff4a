//! Verifies the sessions of the tests.

fn main() -> Result<(), rumpsteak_build::Report> {
    let mut configuration = rumpsteak_build::configure().protocols("protocols");
    for name in ["delegation", "detour", "either", "numbers", "ping"] {
        configuration = configuration.protocols(format!("../protocols/{name}.scr"));
    }
    configuration.verify()?;
    Ok(())
}
