//! Verifies the sessions of the benchmarks against the protocols that they use, and generates a
//! service of `tonic`.

use tonic_build::manual::{Builder, Method, Service};

fn main() -> Result<(), rumpsteak_build::Report> {
    let method = |name, route| {
        let method = Method::builder().name(name).route_name(route);
        let method =
            method.input_type("crate::calls::Payload").output_type("crate::calls::Payload");
        method.codec_path("tonic_prost::ProstCodec").build()
    };
    let service = Service::builder().name("Bytes").package("calls");
    let service = service.method(method("echo", "Echo")).method(method("take", "Take"));
    Builder::new().compile(&[service.build()]);

    rumpsteak_build::configure()
        .protocols("../protocols/ring.scr")
        .protocols("../protocols/streaming.scr")
        .protocols("protocols")
        .verify()?;
    Ok(())
}
