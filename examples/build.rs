//! Verifies the sessions of all examples against their protocols, which are at the top level, and
//! generates code for those who want it.

fn main() -> Result<(), rumpsteak_build::Report> {
    rumpsteak_build::configure()
        .protocols("applications/portal.scr")
        .protocols("../protocols/alternating_bit.scr")
        .protocols("../protocols/authentication.scr")
        .protocols("../protocols/chat_listening.scr")
        .protocols("../protocols/chat_private.scr")
        .protocols("../protocols/chat_speaking.scr")
        .protocols("../protocols/client_server_log.scr")
        .protocols("../protocols/double_buffering.scr")
        .protocols("../protocols/elevator.scr")
        .protocols("../protocols/fft.scr")
        .protocols("../protocols/file_transfer.scr")
        .protocols("../protocols/first_answer.scr")
        .protocols("../protocols/hospital.scr")
        .protocols("../protocols/jacobi.scr")
        .protocols("../protocols/lock.scr")
        .protocols("../protocols/n_body.scr")
        .protocols("../protocols/request_timeout.scr")
        .protocols("../protocols/ring.scr")
        .protocols("../protocols/ring_choice.scr")
        .protocols("../protocols/streaming.scr")
        .protocols("../protocols/three_adder.scr")
        .protocols("../protocols/two_adder.scr")
        .generate()
        .accept_closed_system("Lock")
        .liveness("Lock", rumpsteak_build::Liveness::Fair)
        // The patient of `eager_hospital` need never read what it is answered.
        .liveness("Hospital::p", rumpsteak_build::Liveness::Fair)
        .verify()?;
    Ok(())
}
