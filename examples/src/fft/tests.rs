use num_complex::Complex32;
use rustfft::FftPlanner;

use super::{Matrix, Order, Roles, run};

fn transform(roles: &mut Roles, rows: Matrix, order: Order) -> Matrix {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(run(roles, rows, order)).unwrap()
}

/// Values from −1 to 1 that are different in all elements.
fn matrix(columns: usize) -> Matrix {
    let mut state = 1_u32;
    let mut value = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f32::from((state >> 16) as u16) / 32_768.0 - 1.0
    };
    [(); 8].map(|()| (0..columns).map(|_| Complex32::new(value(), value())).collect())
}

fn rustfft(rows: &Matrix) -> Matrix {
    let fft = FftPlanner::new().plan_fft_forward(8);
    let mut result = [(); 8].map(|()| Vec::new());
    for column in 0..rows[0].len() {
        let mut values = rows.each_ref().map(|row| row[column]);
        fft.process(&mut values);
        for (row, value) in result.iter_mut().zip(values) {
            row.push(value);
        }
    }
    result
}

#[track_caller]
fn assert_close(actual: &Matrix, expected: &Matrix) {
    for (row, (actual, expected)) in actual.iter().zip(expected).enumerate() {
        assert_eq!(actual.len(), expected.len());
        for (column, (actual, expected)) in actual.iter().zip(expected).enumerate() {
            let error = (actual - expected).norm();
            assert!(error < 1e-5, "({row}, {column}): {actual}, not {expected}");
        }
    }
}

#[test]
fn is_that_of_rustfft() {
    let mut roles = Roles::default();
    for columns in [0, 1, 2, 3, 64, 1000] {
        let rows = matrix(columns);
        let expected = rustfft(&rows);
        for order in [Order::Plain, Order::Optimised] {
            let actual = transform(&mut roles, rows.clone(), order);
            assert_close(&actual, &expected);
        }
    }
}

#[test]
fn each_element_alone_is_that_of_rustfft() {
    let mut roles = Roles::default();
    // Column `k` is 1 in element `k`, and 0 elsewhere.
    let mut rows: Matrix = [(); 8].map(|()| vec![Complex32::ZERO; 8]);
    for (element, row) in rows.iter_mut().enumerate() {
        row[element] = Complex32::ONE;
    }
    let expected = rustfft(&rows);
    for order in [Order::Plain, Order::Optimised] {
        let actual = transform(&mut roles, rows.clone(), order);
        assert_close(&actual, &expected);
    }
}

#[test]
fn zeros_are_added_to_rows_that_are_shorter() {
    let mut roles = Roles::default();
    let mut rows = matrix(5);
    rows[3].truncate(2);
    rows[6].clear();
    let mut filled = rows.clone();
    for row in &mut filled {
        row.resize(5, Complex32::ZERO);
    }
    for order in [Order::Plain, Order::Optimised] {
        let actual = transform(&mut roles, rows.clone(), order);
        assert_close(&actual, &rustfft(&filled));
    }
}
