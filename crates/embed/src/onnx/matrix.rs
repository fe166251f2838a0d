//! Products of two matrices: `Gemm` and `MatMul`.

use super::pointwise::Binary;
use super::product::{Bounds, Packed, Stripe};
use super::shaping::transpose;
use super::tensor::{Scratch, Tensor, affordable, elements};

/// y = α·A·B + β·C, A and B transposed or not.
#[derive(Debug)]
pub(super) struct Gemm {
    pub(super) alpha: f32,
    pub(super) beta: f32,
    pub(super) transposed: [bool; 2],
    /// α·B with β·C as its bias, where the file has both.
    pub(super) packed: Option<Packed>,
}

fn matrix(tensor: &Tensor) -> Result<[usize; 2], String> {
    let shape: Result<[usize; 2], _> = tensor.shape.as_slice().try_into();
    shape.map_err(|_| format!("wants a matrix and gets a shape of {:?}", tensor.shape))
}

impl Gemm {
    /// Packs what is known beforehand: B, and C where it is a number a column or none.
    pub(super) fn prepare(&mut self, b: &Tensor, c: Option<&Tensor>) -> Result<(), String> {
        let [_, columns] = self.sizes(b)?;
        let bias: Vec<f32> = match c {
            None => vec![],
            Some(c) if c.data.len() == columns && c.shape.last() == Some(&columns) => {
                c.data.iter().map(|c| self.beta * c).collect()
            }
            Some(_) => return Ok(()),
        };
        self.packed = Some(self.pack(b, &bias)?);
        Ok(())
    }

    /// Of B as it is used: depth and columns.
    fn sizes(&self, b: &Tensor) -> Result<[usize; 2], String> {
        let [rows, columns] = matrix(b)?;
        Ok(if self.transposed[1] { [columns, rows] } else { [rows, columns] })
    }

    fn pack(&self, b: &Tensor, bias: &[f32]) -> Result<Packed, String> {
        let sizes @ [depth, columns] = self.sizes(b)?;
        let steps = if self.transposed[1] { [1, depth] } else { [columns, 1] };
        let weight = |k: usize, j: usize| self.alpha * b.data[k * steps[0] + j * steps[1]];
        Ok(Packed::new(sizes, weight, bias))
    }

    /// Inputs: A, then B and C unless they were packed.
    pub(super) fn run(&self, inputs: &[&Tensor], scratch: &mut Scratch) -> Result<Tensor, String> {
        let [a, rest @ ..] = inputs else { return Err("has no input".to_owned()) };
        matrix(a)?;
        let turned = if self.transposed[0] { Some(transpose(a, None, scratch)?) } else { None };
        let a = turned.as_ref().unwrap_or(a);
        if let Some(packed) = &self.packed {
            return multiply(a, packed, scratch);
        }
        let [b, c @ ..] = rest else { return Err("has one input where it wants two".to_owned()) };
        let product = multiply(a, &self.pack(b, &[])?, scratch)?;
        let Some(c) = c.first() else { return Ok(product) };
        let beta = Tensor::plain(vec![], vec![self.beta]);
        let c = Binary::Multiply.run(c, &beta, scratch)?;
        let sum = Binary::Add.run(&product, &c, scratch)?;
        if sum.shape != product.shape {
            return Err(format!("C of shape {:?} for a product of {:?}", c.shape, product.shape));
        }
        Ok(sum)
    }
}

/// Every row of A (its last dimension) times the matrix.
fn multiply(a: &Tensor, packed: &Packed, scratch: &mut Scratch) -> Result<Tensor, String> {
    let (depth, columns) = (packed.depth(), packed.columns());
    let mut shape = a.shape.clone();
    match shape.last_mut() {
        Some(last) if *last == depth && depth > 0 => *last = columns,
        _ => return Err(format!("a shape of {:?} times {depth}×{columns}", a.shape)),
    }
    let length = elements(&shape)?;
    affordable(length, depth)?;
    let a = a.in_order(scratch);
    let mut out = scratch.take(length);
    packed.multiply(&a.data, &mut out, Stripe { start: 0, stride: columns }, Bounds::NONE);
    scratch.give_cow(a);
    Ok(Tensor::plain(shape, out))
}

/// A·B: one matrix B for all of A, or one for each of its matrices.
pub(super) fn matmul(a: &Tensor, b: &Tensor, scratch: &mut Scratch) -> Result<Tensor, String> {
    let plain = Gemm { alpha: 1.0, beta: 1.0, transposed: [false; 2], packed: None };
    let misfit = || format!("shapes {:?} and {:?} are not multiplied here", a.shape, b.shape);
    let ([.., rows, depth], [.., inner, columns]) = (a.shape.as_slice(), b.shape.as_slice()) else {
        return Err(misfit());
    };
    let (before, own) = (&a.shape[..a.shape.len() - 2], &b.shape[..b.shape.len() - 2]);
    if depth != inner || !(own.is_empty() || own == before) {
        return Err(misfit());
    }
    let b = b.in_order(scratch);
    if own.is_empty() {
        return multiply(a, &plain.pack(&b, &[])?, scratch);
    }
    let length = elements(&[before, &[*rows, *columns]].concat())?;
    affordable(length, *depth)?;
    let a = a.in_order(scratch);
    let mut out = Vec::with_capacity(length);
    let pairs = a.data.chunks_exact((rows * depth).max(1));
    for (a, b) in pairs.zip(b.data.chunks_exact((inner * columns).max(1))) {
        let (a, b) = (a.to_vec(), b.to_vec());
        let b = plain.pack(&Tensor::plain(vec![*inner, *columns], b), &[])?;
        out.extend(multiply(&Tensor::plain(vec![*rows, *depth], a), &b, scratch)?.data);
    }
    if out.len() != length {
        return Err(misfit());
    }
    Ok(Tensor::plain([before, &[*rows, *columns]].concat(), out))
}
