"""The small numbers that stand for words in the ads table; the schema's comments repeat them."""

from ppcfetch.model.ad import AdFormat, PreviewKind

FORMAT_CODES = {
    AdFormat.UNKNOWN: 0,
    AdFormat.TEXT: 1,
    AdFormat.IMAGE: 2,
    AdFormat.VIDEO: 3,
}
FORMATS = {code: word for word, code in FORMAT_CODES.items()}

PREVIEW_CODES = {PreviewKind.NONE: 0, PreviewKind.IMAGE: 1, PreviewKind.SCRIPT: 2}
PREVIEWS = {code: word for word, code in PREVIEW_CODES.items()}
