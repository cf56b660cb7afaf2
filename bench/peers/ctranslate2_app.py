"""CTranslate2 behind FastAPI, as such servers are usually written; uvicorn runs it (ctranslate2_serve.py).

    POST /translate           {"text", "beam_size"}: one call of the translator for each request, on FastAPI's threads
    POST /translate_batched  the same, but requests that arrive during a call are translated together by the next one

The translator has a worker for each core (inter_threads), which is faster here than several threads on one step.
"""
import asyncio
import contextlib
import os

import ctranslate2
from fastapi import FastAPI
from pydantic import BaseModel

THREADS = int(os.environ["PEER_THREADS"])
LONGEST = int(os.environ["PEER_LONGEST"])  # tokens of an output
MOST_TOGETHER = 64

translator = ctranslate2.Translator(os.environ["PEER_MODEL"], device="cpu", compute_type="float32",
                                    inter_threads=THREADS, intra_threads=1)


def translate_all(sentences, beam_size):
    found = translator.translate_batch(sentences, max_batch_size=-(-len(sentences) // THREADS), beam_size=beam_size,
                                       length_penalty=0, min_decoding_length=0, max_decoding_length=LONGEST)
    return [" ".join(result.hypotheses[0]) for result in found]


async def translate_in_batches(waiting):
    """Everything that has the same beam size goes into one call."""
    while True:
        batch = [await waiting.get()]
        while len(batch) < MOST_TOGETHER and not waiting.empty():
            batch.append(waiting.get_nowait())
        for size in {beam_size for _, beam_size, _ in batch}:
            mine = [(words, future) for words, beam_size, future in batch if beam_size == size]
            outputs = await asyncio.to_thread(translate_all, [words for words, _ in mine], size)
            for (_, future), output in zip(mine, outputs):
                future.set_result(output)


@contextlib.asynccontextmanager
async def lifespan(served):
    served.state.waiting = asyncio.Queue()
    worker = asyncio.create_task(translate_in_batches(served.state.waiting))
    yield
    worker.cancel()


app = FastAPI(lifespan=lifespan)


class Question(BaseModel):
    text: str
    beam_size: int = 1


@app.post("/translate")
def translate(question: Question):
    return {"output": translate_all([question.text.split()], question.beam_size)[0]}


@app.post("/translate_batched")
async def translate_batched(question: Question):
    future = asyncio.get_running_loop().create_future()
    app.state.waiting.put_nowait((question.text.split(), question.beam_size, future))
    return {"output": await future}
