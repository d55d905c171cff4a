//! Verifies the sessions of this package.

fn main() -> Result<(), rumpsteak_build::Report> {
    let configuration = rumpsteak_build::configure().protocols("protocols");
    configuration.accept_closed_system("Swap").verify().map(drop)
}
