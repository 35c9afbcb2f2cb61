def start(setting):
    pass
