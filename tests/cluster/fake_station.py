"""A station that walks nothing: it answers tickets as their shards say, and writes down what it hears.

up to 99   done, after so many hundredths of a second
100        no room, the first time; then done
200        dies; 201: asks to be started again; 202: dies before it is ready, from then on
300        goes on until it is told to end, then yields; 301: does not end when it is told to
400        wants tickets published, with high and low priorities; 401: says things that nobody understands
402        has a note for a person; 403: closes its mouth; 404: gives a sign of life
"""

import json
import os
import sys
import threading
import time
from pathlib import Path

HEARD = Path(os.environ["FAKE_HEARD"])
writing = threading.Lock()
ending = threading.Event()


def note(**facts: object) -> None:
    with writing, HEARD.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"pid": os.getpid(), **facts}) + "\n")


def say(**words: object) -> None:
    with writing:
        os.write(1, json.dumps(words).encode() + b"\n")


def was_full(run: int) -> bool:
    mark = HEARD.with_name(f"full-{run}")
    full = mark.exists()
    mark.touch()
    return full


def walk(number: int, run: int, shard: int) -> None:
    why = "done"
    match shard:
        case 100:
            why = "done" if was_full(run) else "no_room"
        case 200:
            os._exit(3)
        case 201:
            os._exit(75)
        case 202:
            HEARD.with_name("broken").touch()
            os._exit(4)
        case 300:
            ending.wait()
            time.sleep(0.2)
            why = "yielded"
        case 301:
            time.sleep(600)
        case 400:
            say(say="tickets", tickets=[[run, 1, -9], [run, 2, 0], [run, 3, 9]])
        case 401:
            os.write(
                1, b"no JSON\n[]\n{}\n" + b'{"say":"tickets","tickets":[[1]]}\n{"say":"done","id":999999,"why":"x"}\n'
            )
            os.write(1, b"x" * (3 << 20) + b"\n")
        case 402:
            say(say="note", text="takes 4 shards: the processor is idle")
        case 404:
            say(say="alive")
        case 403:
            os.close(1)
            time.sleep(600)
        case _:
            time.sleep(shard / 100)
    note(done=[run, shard], why=why)
    say(say="done", id=number, why=why)


def main() -> None:
    environ = {name: value for name, value in os.environ.items() if name.startswith("GOSSAMER_")}
    note(born=sys.argv[1:], environ=environ)
    if HEARD.with_name("broken").exists():
        sys.exit(4)
    say(say="ready")
    walks = []
    for line in sys.stdin:
        told = json.loads(line)
        note(heard=told)
        if told["do"] == "ticket":
            walks.append(threading.Thread(target=walk, args=(told["id"], told["run"], told["shard"]), daemon=True))
            walks[-1].start()
    note(told_to_end=True)
    ending.set()
    for each in walks:
        each.join()
    note(ended=True)


main()
