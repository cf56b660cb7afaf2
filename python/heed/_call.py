"""What all calls of heed.attend share: checking shapes, finding heads and sequences, normalising masks and biases."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import numpy as np

from ._arrays import expect_dims, floats, integers, offsets, text, to_numpy, writable
from ._heed import Error
from ._layout import Layout
from ._question import Question


class Call:
    """One call. forward(), then weights(), stage() and backward() in any order."""

    def __init__(self, q: Any, k: Any, v: Any, ask: Question) -> None:
        self.ask = ask
        self.q = floats(q, "q")
        self.k = floats(k, "k")
        self.shared = v is None  # the keys are the values
        self.v = self.k if self.shared else floats(v, "v")
        self.q_layout = Layout.of(self.q, "q", ask.q_heads, ask.ragged)
        self.k_layout = Layout.of(self.k, "k", self._kv_heads(self.k), ask.ragged)
        self.v_layout = Layout.of(self.v, "v", self._kv_heads(self.v), ask.ragged)
        self.views = [self.q_layout.view(self.q), self.k_layout.view(self.k), self.v_layout.view(self.v)]
        """q, k, v as [B, heads, T, width], ragged [heads, tokens, width]; k and v with the past"""
        self.past = 0
        if ask.past_key is not None:
            self._add_past()
        self._check_shapes()
        self.sequences: Dict[str, np.ndarray] = {}
        """query_offsets, key_offsets, lengths and documents, as far as given"""
        self._read_sequences()
        self.mask: Optional[np.ndarray] = None  # bool, [B, H, Tq, Tk] with axes that may be 1
        self.bias: Optional[np.ndarray] = None  # float32, in the same form
        self._read_pairs()
        self.out: Optional[np.ndarray] = None

    # ------------------------------------------------------------------------------------------------------- shapes
    def _kv_heads(self, array: np.ndarray) -> int:
        heads_in_shape = array.ndim == (3 if self.ask.ragged else 4)
        return self.ask.kv_heads or (0 if heads_in_shape else self.q_layout.heads)

    @property
    def first_position(self) -> int:
        """Position of the first query, unless align is bottom_right."""
        align = self.ask.align
        return self.past + (0 if isinstance(align, str) else align)

    @property
    def heads(self) -> int:
        return self.q_layout.heads

    @property
    def queries(self) -> int:
        return self.views[0].shape[-2]

    @property
    def keys(self) -> int:
        return self.views[1].shape[-2]

    @property
    def batch(self) -> int:
        return len(self.sequences["query_offsets"]) - 1 if self.ask.ragged else self.views[0].shape[0]

    @property
    def longest(self) -> Tuple[int, int]:
        """The largest number of queries and of keys in a sequence."""
        if not self.ask.ragged:
            return self.queries, self.keys
        sizes = [np.diff(self.sequences[name]) for name in ("query_offsets", "key_offsets")]
        return int(sizes[0].max(initial=0)), int(sizes[1].max(initial=0))

    def _add_past(self) -> None:
        """k and v with the past in front: one new array each, which becomes present_key and present_value."""
        for index, (name, past) in enumerate((("past_key", self.ask.past_key), ("past_value", self.ask.past_value)), 1):
            new = self.views[index]
            past = floats(past, name)
            expect_dims(past, name, "[B, kv_heads, past length, width]", (4,))
            if past.shape[:2] + past.shape[3:] != new.shape[:2] + new.shape[3:]:
                wanted = text((new.shape[0], new.shape[1], "past length", new.shape[3]))
                raise Error(f"{name}: expected {wanted}, got {text(past.shape)}")
            if index == 2 and past.shape[2] != self.past:
                raise Error(f"past_value: expected {self.past} rows like past_key, got {text(past.shape)}")
            self.views[index] = np.concatenate((past, new), axis=2)
            self.past = past.shape[2]

    def _check_shapes(self) -> None:
        q, k, v = self.views
        width = q.shape[-1] if self.ask.fused else "width"
        if q.shape[:-3] != k.shape[:-3] or self.ask.fused and q.shape[-1] != k.shape[-1]:
            wanted = text((*q.shape[:-3], "kv_heads", "keys", width))
            raise Error(f"k: expected {wanted} (as heads) beside q {text(q.shape)}, got {text(k.shape)}")
        if k.shape[:-1] != v.shape[:-1]:
            wanted = text((*k.shape[:-1], "width"))
            raise Error(f"v: expected {wanted} (as heads) beside k {text(k.shape)}, got {text(v.shape)}")
        if k.shape[-3] == 0 or q.shape[-3] % k.shape[-3]:
            raise Error(f"kv_heads: expected a divisor of the {q.shape[-3]} heads of q, got {k.shape[-3]}")
        if self.ask.enable_gqa is False and q.shape[-3] != k.shape[-3]:
            raise Error(f"k: expected {q.shape[-3]} heads like q, got {k.shape[-3]}; enable_gqa=True shares them")

    def _read_sequences(self) -> None:
        ask, found = self.ask, self.sequences
        if ask.ragged:
            found["query_offsets"] = offsets(ask.query_offsets, "query_offsets", self.queries)
            found["key_offsets"] = offsets(ask.key_offsets, "key_offsets", self.keys)
            if len(found["key_offsets"]) != self.batch + 1:
                got = len(found["key_offsets"])
                raise Error(f"key_offsets: expected {self.batch + 1} numbers like query_offsets, got {got}")
        for name in ("key_lengths", "query_lengths"):
            given = getattr(ask, name)
            if given is not None:
                found[name] = integers(given, name, np.int32, (self.batch,))
                most = self._lengths(name)
                if (found[name] < 0).any() or (found[name] > most).any():
                    raise Error(f"{name}: expected 0 to {text(most.tolist())}, got {text(found[name].tolist())}")
        for name, count in (("query_documents", self.queries), ("key_documents", self.keys)):
            given = getattr(ask, name)
            if given is not None:
                shape = (count,) if ask.ragged or np.ndim(given) == 1 and self.batch == 1 else (self.batch, count)
                found[name] = integers(given, name, np.int32, shape).reshape(-1)

    def _lengths(self, name: str) -> np.ndarray:
        """[B], the largest values that query_lengths or key_lengths may have."""
        side = name.split("_")[0]
        if self.ask.ragged:
            return np.diff(self.sequences[f"{side}_offsets"])
        return np.full(self.batch, self.queries if side == "query" else self.keys)

    # --------------------------------------------------------------------------------------------- masks and biases
    def _read_pairs(self) -> None:
        mask, bias = self.ask.mask, self.ask.bias
        if mask is not None:
            name = self.ask.mask_name
            mask = to_numpy(mask, name)
            if mask.dtype == np.bool_:
                self.mask = self._pairs(mask, name)
            elif mask.dtype != np.float32:
                raise Error(
                    f"{name}: expected bool (True where visible) or float32 (added to the scores), got {mask.dtype}"
                )
            elif bias is not None:
                raise Error(
                    f"{name}: a float mask is added to the scores, and so is bias: expected one of them, got both"
                )
            else:
                self.bias = self._pairs(mask, name)
        if bias is not None:
            self.bias = self._pairs(floats(bias, "bias"), "bias")

    def _pairs(self, array: np.ndarray, name: str) -> np.ndarray:
        """As [B, H, Tq, Tk], each axis full or 1. Keys missing at the end are hidden."""
        keys = self.longest[1]
        full = (1 if self.ask.ragged else self.batch, self.heads, self.queries, keys)
        expect_dims(array, name, "1 to 4 dimensions that broadcast to [B, H, Tq, Tk]", (1, 2, 3, 4))
        came = array.shape
        array = array.reshape((1,) * (4 - array.ndim) + array.shape)
        missing = keys - array.shape[3]
        if missing > 0 and array.shape[3] > 1:
            fill = False if array.dtype == np.bool_ else -np.inf
            array = np.pad(array, ((0, 0), (0, 0), (0, 0), (0, missing)), constant_values=fill)
        if any(have not in (1, want) for have, want in zip(array.shape, full)):
            if self.ask.ragged:
                wanted = f"[H, all queries, longest keys] = {text(full[1:])}"
            else:
                wanted = f"[B, H, Tq, Tk] = {text(full)}"
            raise Error(f"{name}: expected to broadcast to {wanted}, got {text(came)}")
        return array

    def _bias_gradient(self, gradient: np.ndarray) -> Dict[str, np.ndarray]:
        """The gradient of self.bias, in the shape of the argument."""
        name = self.ask.mask_name if self.ask.bias is None else "bias"
        given = self.ask.mask if self.ask.bias is None else self.ask.bias
        return {name: np.ascontiguousarray(gradient[..., : given.shape[-1]]).reshape(tuple(given.shape))}

    # ------------------------------------------------------------------------------------------------------- results
    def floats(self) -> Dict[str, Any]:
        """Every input of numbers, by name."""
        return {"q": self.views[0], "k": self.views[1], "v": self.views[2], "bias": self.bias}

    def _make_out(self, out: Any) -> np.ndarray:
        shape = self.q_layout.shape(self.q, self.views[2].shape[-1])
        self.out = np.empty(shape, np.float32) if out is None else writable(out, "out", shape)
        return self.out

    def _d_out(self, d_out: Any) -> np.ndarray:
        assert self.out is not None
        array = floats(d_out, "d_out")
        if array.shape != self.out.shape:
            raise Error(f"d_out: expected {text(self.out.shape)} like the output, got {text(array.shape)}")
        return array

    def _new_gradients(self) -> Tuple[Dict[str, np.ndarray], Dict[str, np.ndarray]]:
        """Arrays like q, k and v, and the same as views; with a past the views of k and v are separate arrays."""
        gradients = {
            name: np.empty(like.shape, np.float32) for name, like in (("q", self.q), ("k", self.k), ("v", self.v))
        }
        layouts = {"q": self.q_layout, "k": self.k_layout, "v": self.v_layout}
        views = {name: layout.view(gradients[name]) for name, layout in layouts.items()}
        if self.ask.past_key is not None:
            views["k"], views["v"] = (np.empty(view.shape, np.float32) for view in self.views[1:])
        return gradients, views

    def _finish(self, gradients: Dict[str, np.ndarray], views: Dict[str, np.ndarray]) -> Dict[str, np.ndarray]:
        """Splits off the past, and adds up the gradients of keys that are also values."""
        if self.ask.past_key is not None:
            for name, past, layout in (("k", "past_key", self.k_layout), ("v", "past_value", self.v_layout)):
                gradients[past] = views[name][:, :, : self.past]
                layout.view(gradients[name])[...] = views[name][:, :, self.past :]
        if self.shared:
            gradients["k"] += gradients.pop("v")
        return gradients
