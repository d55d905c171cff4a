//! Verifies the sessions of this package.

fn main() -> Result<(), rumpsteak_build::Report> {
    rumpsteak_build::verify("protocols")?;
    Ok(())
}
