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
    /// The array with as many elements as `shape` says, whatever its dimensions.
    ///
    /// # Errors
    ///
    /// `TypeError` if the object is not a buffer of this type, `ValueError` if it has another
    /// number of elements, or gaps between them.
    pub fn new(object: &Bound<'_, PyAny>, name: &str, shape: &[usize]) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(object)?
            .into_typed::<T>()
            .map_err(|_| {
                let expected = std::any::type_name::<T>();
                PyTypeError::new_err(format!("{name} must be an array of {expected}"))
            })?;
        let length: usize = shape.iter().product();
        if buffer.item_count() != length {
            let shape: Vec<String> = shape.iter().map(ToString::to_string).collect();
            return Err(PyValueError::new_err(format!(
                "{name} must have {} elements, not {}",
                shape.join(" × "),
                buffer.item_count()
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
