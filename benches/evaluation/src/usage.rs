//! How the command is called.

/// The arguments of the program.
pub(crate) const USAGE: &str = "usage:
    run [--quick] [--again] [--folder FOLDER] [FIGURE…]
        measures figures (all, if none is named), then renders the report
    report [--folder FOLDER]
        renders the report from the stored results
    list
        names the figures

--quick measures in a few minutes. Results of another mode, machine or version do not count.
--again measures also what is stored already.
--folder is where the report is, and the results in its folder `data`: `benches/report`, or with
    --quick `evaluation` in Cargo's target folder.";
