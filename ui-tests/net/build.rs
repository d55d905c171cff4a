//! Verifies the sessions of the tests.

fn main() -> Result<(), rumpsteak_build::Report> {
    let shared = ["delegation", "detour", "either", "numbers", "ping"]
        .map(|name| format!("../protocols/{name}.scr"));
    let mut configuration = rumpsteak_build::configure().protocols("protocols");
    for file in shared {
        configuration = configuration.protocols(file);
    }
    configuration.generate().verify().map(drop)
}
