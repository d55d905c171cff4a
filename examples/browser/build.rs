//! Verifies the role of the page against the protocol of the portal.

fn main() -> Result<(), rumpsteak_build::Report> {
    rumpsteak_build::verify("../applications/portal.scr")?;
    Ok(())
}
