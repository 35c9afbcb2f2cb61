local commands = {}
function commands.finish() return 0 end
return commands
