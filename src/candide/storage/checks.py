def check_content(content): pass
