//! The report: pictures and tables, made from the stored results alone.
//!
//! | module | makes |
//! |---|---|
//! | [`data`] | medians and ratios from the rows of one run |
//! | [`claims`] | the lines at the top: the claims and their verdicts |
//! | [`plot`] | a picture of a figure |
//! | [`page`] | the page |

pub mod claims;
pub mod data;
pub mod page;
pub mod plot;

use std::fs;
use std::path::{Path, PathBuf};

use self::data::Data;
use crate::{Error, Result, Store, figures};

/// Renders the report of a folder from the results in its folder `data`: `README.md`, which is
/// returned, and a picture per figure, `fig6-streaming.svg`.
///
/// # Errors
///
/// The errors of reading the results and of writing pictures.
pub fn render(folder: &Path) -> Result<PathBuf> {
    let figures = figures::all();
    let store = Store::open(&folder.join("data"))?;
    let data = Data::new(&store, &figures);
    fs::create_dir_all(folder).map_err(Error::io(folder))?;
    for figure in data.measured() {
        let picture = folder.join(format!("{}.svg", figure.name));
        fs::write(&picture, plot::draw(figure, &data)?).map_err(Error::io(&picture))?;
    }
    let page = folder.join("README.md");
    fs::write(&page, page::page(&data)).map_err(Error::io(&page))?;
    Ok(page)
}
