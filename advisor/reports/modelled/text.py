def model_text(found, width=0, ascii_only=False):
    return ""
