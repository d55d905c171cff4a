//! Verifies the sessions of this package, and those of the cases in `ui/`.

fn main() {
    rumpsteak_build::configure()
        .protocols("protocols")
        .sources(["ui"])
        .verify();
}
