"""Commands as a person types them on a terminal of 80 columns, and what they print, as a picture (SVG)."""
import fcntl
import html
import os
import pty
import re
import struct
import subprocess
import termios

COLUMNS, CELL, LINE, MARGIN = 80, 8.43, 19, 16
COLOURS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "36": "#79c0ff", "2": "#8b949e", "90": "#8b949e"}


def output(command, folder):
    """Returns what a command prints on a terminal, with its escape sequences."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    process = subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal, start_new_session=True,
        env={**os.environ, "TERM": "xterm-256color"})
    os.close(terminal)
    pieces = []
    while True:
        try:
            piece = os.read(controller, 65536)
        except OSError:  # The program has closed the terminal.
            break
        if not piece:
            break
        pieces.append(piece)
    process.wait(timeout=60)
    os.close(controller)
    return b"".join(pieces).decode().replace("\r\n", "\n").rstrip("\n")


def spans(line):
    """Returns the parts of a line as `(text, attributes of SVG)`."""
    found, attributes = [], ""
    for part in re.split(r"(\x1b\[[0-9;?]*[A-Za-z])", line):
        if part.startswith("\x1b["):
            if part.endswith("m"):
                codes = part[2:-1].split(";")
                colour = next((COLOURS[code] for code in codes if code in COLOURS), None)
                attributes = "" if codes in (["0"], [""]) else (
                    (f' fill="{colour}"' if colour else "") + (' font-weight="bold"' if "1" in codes else ""))
        elif part:
            found.append((part, attributes))
    return found


def picture(commands, folder):
    """Returns an SVG of commands, each `(what a person types, its arguments)`, and what they print in a folder."""
    lines = []
    for typed, arguments in commands:
        lines += [[("$ ", ' fill="#7ee787"'), (typed, ' font-weight="bold"')]]
        lines += [spans(line) for line in output(arguments, folder).split("\n")] + [[]]
    lines.pop()
    width, height = round(2 * MARGIN + COLUMNS * CELL), 2 * MARGIN + len(lines) * LINE
    rows = []
    for number, line in enumerate(lines):
        column, parts = 0, []
        for text, attributes in line:
            parts.append(f'<tspan x="{MARGIN + column * CELL:.1f}"{attributes}>{html.escape(text, quote=False)}</tspan>')
            column += len(text)
        if parts:
            rows.append(f'<text y="{MARGIN + number * LINE + 14}" xml:space="preserve">{"".join(parts)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">\n'
        f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>\n'
        '<g font-family="ui-monospace, SFMono-Regular, Menlo, DejaVu Sans Mono, monospace" font-size="14" fill="#e6edf3">\n'
        + "\n".join(rows) + "\n</g>\n</svg>\n")
