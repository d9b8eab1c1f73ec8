//! Arrays of the caller, read and written in place.
//!
//! Any object with a buffer will do, such as an array of numpy or a `memoryview`. Its elements
//! must lie next to each other, in the order of C. While this package works, other threads of
//! Python may run; if they write to the same array meanwhile, its contents are unspecified, as
//! with numpy.

use pyo3::buffer::{Element, PyBuffer, PyUntypedBuffer};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// An array of the caller, held for the duration of a call.
pub struct Array<T: Element>(PyBuffer<T>);

impl<T: Element + Send + Sync> Array<T> {
    /// The array of this shape; a flat one with as many elements will do, too.
    ///
    /// # Errors
    ///
    /// `TypeError` if the object is not a buffer of this type in the order of bytes of this machine,
    /// `ValueError` if it has another shape, or gaps between its elements.
    pub fn new(object: &Bound<'_, PyAny>, name: &str, shape: &[usize]) -> PyResult<Self> {
        let wrong = || {
            let expected = match std::any::type_name::<T>() {
                "i32" => "int32",
                "f32" => "float32",
                _ => "uint8",
            };
            PyTypeError::new_err(format!("{name} must be an array of {expected}"))
        };
        let buffer = PyUntypedBuffer::get(object)?;
        let foreign = if cfg!(target_endian = "little") {
            b">!"
        } else {
            b"<<"
        };
        let order = buffer.format().to_bytes().first();
        if order.is_some_and(|order| foreign.contains(order)) {
            return Err(wrong());
        }
        let buffer = buffer.into_typed::<T>().map_err(|_| wrong())?;
        let length: usize = shape.iter().product();
        if buffer.shape() != shape && buffer.shape() != [length] {
            let written = |shape: &[usize]| {
                let sizes: Vec<String> = shape.iter().map(ToString::to_string).collect();
                sizes.join(" × ")
            };
            return Err(PyValueError::new_err(format!(
                "{name} must have {} elements, not {}",
                written(shape),
                written(buffer.shape())
            )));
        }
        if !buffer.is_c_contiguous() {
            return Err(PyValueError::new_err(format!(
                "{name} must have its elements next to each other, in the order of C"
            )));
        }
        Ok(Array(buffer))
    }

    /// As [`Array::new`], to be written.
    ///
    /// # Errors
    ///
    /// As [`Array::new`], and `ValueError` if the array is read-only.
    pub fn writable(object: &Bound<'_, PyAny>, name: &str, shape: &[usize]) -> PyResult<Self> {
        let array = Array::new(object, name, shape)?;
        match array.0.readonly() {
            true => Err(PyValueError::new_err(format!("{name} is read-only"))),
            false => Ok(array),
        }
    }

    /// The elements.
    pub fn get(&self) -> &[T] {
        match self.0.as_slice_ptr() {
            Some(elements) if !elements.is_empty() => {
                #[expect(unsafe_code, reason = "Python owns the memory")]
                // SAFETY: the buffer is held as long as `self`, and was found to be of this type,
                // aligned and without gaps. Writes by other threads are excluded by the contract
                // of this module.
                unsafe {
                    elements.as_ref()
                }
            }
            _ => &[],
        }
    }

    /// The elements, to be written. The array must be [writable](Array::writable).
    pub fn get_mut(&mut self) -> &mut [T] {
        assert!(!self.0.readonly(), "the array is writable");
        match self.0.as_slice_ptr() {
            Some(mut elements) if !elements.is_empty() => {
                #[expect(unsafe_code, reason = "Python owns the memory")]
                // SAFETY: as above; `self` is borrowed mutably, and the buffer is not read-only.
                unsafe {
                    elements.as_mut()
                }
            }
            _ => &mut [],
        }
    }
}
